#include "verbs/uverbs/memory_commands.h"

#include <utility>

#include "base/status_macros.h"
#include "verbs/uverbs/responses.h"

namespace ibemu::verbs {
namespace {

constexpr uint64_t kPage = 4096;

// The checks of ib_check_mr_access() in include/rdma/ib_verbs.h, and of
// reg_mr() in uverbs_cmd.c.  A region may allow memory windows even if the
// device has none.
absl::Status CheckRegistration(const ib_uverbs_reg_mr& request) {
  constexpr uint32_t kKnown = access::kLocalWrite | access::kRemoteWrite |
                              access::kRemoteRead | access::kRemoteAtomic |
                              access::kBindWindow | access::kZeroBased |
                              access::kHugeTlb | access::kOptional;
  constexpr uint32_t kWrites = access::kRemoteWrite | access::kRemoteAtomic;
  if ((request.start - request.hca_va) % kPage != 0) {
    return absl::InvalidArgumentError("another offset in the page");
  }
  if ((request.access_flags & ~kKnown) != 0) {
    return absl::InvalidArgumentError("the device has no such access");
  }
  if ((request.access_flags & kWrites) != 0 &&
      (request.access_flags & access::kLocalWrite) == 0) {
    return absl::InvalidArgumentError("remote writes need local ones");
  }
  if (request.length == 0 || request.start + request.length < request.start ||
      request.hca_va + request.length < request.hca_va) {
    return absl::InvalidArgumentError("no bytes, or more than there are");
  }
  return absl::OkStatus();
}

// ib_access_writable() in include/rdma/ib_verbs.h.
bool IsWritable(uint32_t flags) {
  constexpr uint32_t kWrites = access::kLocalWrite | access::kRemoteWrite |
                               access::kRemoteAtomic | access::kBindWindow;
  return (flags & kWrites) != 0;
}

}  // namespace

MemoryCommands::MemoryCommands(CommandTable& table, Provider& provider,
                               ContextClient& client, Timers& timers,
                               ContextObjects& objects)
    : provider_(provider), client_(client), timers_(timers), objects_(objects) {
  table.Add<ib_uverbs_alloc_pd, ib_uverbs_alloc_pd_resp>(
      IB_USER_VERBS_CMD_ALLOC_PD,
      [this](CommandCall& call) { return AllocPd(call); });
  table.Add<ib_uverbs_dealloc_pd>(
      IB_USER_VERBS_CMD_DEALLOC_PD,
      [this](CommandCall& call) { return DeallocPd(call); });
  table.Add<ib_uverbs_reg_mr, ib_uverbs_reg_mr_resp>(
      IB_USER_VERBS_CMD_REG_MR,
      [this](CommandCall& call) { return RegMr(call); });
  table.Add<ib_uverbs_dereg_mr>(
      IB_USER_VERBS_CMD_DEREG_MR,
      [this](CommandCall& call) { return DeregMr(call); });
}

MemoryCommands::~MemoryCommands() {
  *self_ = nullptr;
  for (const auto& [number, timer] : late_) timers_.Cancel(timer);
}

absl::Status MemoryCommands::AllocPd(CommandCall& call) {
  auto object = std::make_unique<PdObject>();
  IBEMU_ASSIGN_OR_RETURN(
      object->pd, provider_.CreatePd(client_.MemoryOf(call.caller)->process()));
  auto response = Blank<ib_uverbs_alloc_pd_resp>();
  response.pd_handle = objects_.pds.Add(std::move(object));
  call.response = ToVector(response);
  call.undo = [this, handle = response.pd_handle] {
    TakeBack(objects_.pds, handle);
  };
  return absl::OkStatus();
}

absl::Status MemoryCommands::DeallocPd(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_dealloc_pd>(call.request);
  IBEMU_ASSIGN_OR_RETURN(const PdObject* pd,
                         FindObject(objects_.pds, request.pd_handle));
  if (pd->users != 0) return StillUsed();
  objects_.pds.Remove(request.pd_handle);
  return absl::OkStatus();
}

// Answers later, because a worker has to look whether the memory is there.
absl::Status MemoryCommands::RegMr(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_reg_mr>(call.request);
  IBEMU_RETURN_IF_ERROR(CheckRegistration(request));
  IBEMU_RETURN_IF_ERROR(FindObject(objects_.pds, request.pd_handle).status());
  MrInit init = {.memory = client_.MemoryOf(call.caller),
                 .start = request.start,
                 .length = request.length,
                 .address = request.hca_va,
                 .access = request.access_flags};
  init.memory->PinPages(
      init.start, init.length, IsWritable(init.access),
      [self = self_, init, pd = request.pd_handle, address = call.address,
       done = std::exchange(call.done, nullptr)](
          absl::StatusOr<std::unique_ptr<Memory::Pin>> pin) mutable {
        if (*self == nullptr) return;
        (*self)->Register(pd, std::move(init), std::move(pin), address,
                          std::move(done));
      });
  return absl::OkStatus();
}

void MemoryCommands::Register(uint32_t pd_handle, MrInit init,
                              absl::StatusOr<std::unique_ptr<Memory::Pin>> pin,
                              uint64_t address, CommandCall::Done done) {
  const absl::Duration delay =
      pin.ok() ? provider_.TakeMrDelay(init.memory->process())
               : absl::ZeroDuration();
  auto finish = [this, pd_handle, init = std::move(init), pin = std::move(pin),
                 address, done = std::move(done)]() mutable {
    Answer answer = AddMr(pd_handle, std::move(init), std::move(pin));
    answer.address = address;
    done(std::move(answer));
  };
  if (delay <= absl::ZeroDuration()) return finish();
  const uint64_t number = ++last_late_;
  late_[number] = timers_.RunAfter(
      delay, [this, number, finish = std::move(finish)]() mutable {
        late_.erase(number);
        finish();
      });
}

Answer MemoryCommands::AddMr(uint32_t pd_handle, MrInit init,
                             absl::StatusOr<std::unique_ptr<Memory::Pin>> pin) {
  const auto fail = [](absl::Status status) {
    return Answer{.status = std::move(status), .response = {}, .undo = {}};
  };
  if (!pin.ok()) return fail(pin.status());
  PdObject* const pd = objects_.pds.Find(pd_handle);
  if (pd == nullptr) return fail(BadHandle(pd_handle));
  init.pd = pd->pd.get();
  absl::StatusOr<std::unique_ptr<Mr>> mr = provider_.CreateMr(init);
  if (!mr.ok()) return fail(mr.status());

  auto object = std::make_unique<MrObject>();
  object->pd = Use(pd->users);
  object->init = std::move(init);
  object->pin = *std::move(pin);
  object->mr = *std::move(mr);
  auto response = Blank<ib_uverbs_reg_mr_resp>();
  response.lkey = object->mr->lkey();
  response.rkey = object->mr->rkey();
  response.mr_handle = objects_.mrs.Add(std::move(object));
  return Answer{.status = absl::OkStatus(),
                .response = ToVector(response),
                .undo = [this, handle = response.mr_handle] {
                  TakeBack(objects_.mrs, handle);
                }};
}

// Answers when nothing accesses the region any more: calls on a Memory are
// carried out in order, so the empty Write() comes after all others.
absl::Status MemoryCommands::DeregMr(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_dereg_mr>(call.request);
  const std::unique_ptr<MrObject> object =
      objects_.mrs.Remove(request.mr_handle);
  if (object == nullptr) return BadHandle(request.mr_handle);
  object->init.memory->Write(
      {}, [done = std::exchange(call.done, nullptr),
           memory = object->init.memory](const absl::Status&) mutable {
        done(Answer{.status = absl::OkStatus(), .response = {}, .undo = {}});
      });
  return absl::OkStatus();
}

}  // namespace ibemu::verbs
