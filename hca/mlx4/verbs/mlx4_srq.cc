#include "hca/mlx4/verbs/mlx4_srq.h"

#include <array>
#include <bit>
#include <utility>

#include "base/status_macros.h"
#include "hca/bus/address_space.h"
#include "hca/mlx4/core/queue_entry.h"
#include "hca/mlx4/core/verbs_attributes.h"
#include "hca/mlx4/verbs/verbs_provider.h"
#include "hca/prm/mlx4_qp.h"
#include "hca/prm/mlx4_wqe.h"

namespace ibemu::hca::mlx4 {
namespace {

constexpr size_t kNext = wire::kBytes<prm::NextSegment>;
constexpr int kLogSharedWqe = 5;  // a NextSegment and one pointer
constexpr int kLogSharedUnit = 4;

}  // namespace

absl::StatusOr<std::unique_ptr<Mlx4Srq>> Mlx4Srq::Create(
    std::shared_ptr<VerbsProvider> provider, const verbs::Pd& pd,
    const verbs::SrqAttributes& attributes, verbs::ObjectListener& listener) {
  std::unique_ptr<Mlx4Srq> queue(
      new Mlx4Srq(std::move(provider), pd, attributes, listener));
  IBEMU_RETURN_IF_ERROR(queue->Start(attributes.limit));
  return queue;
}

Mlx4Srq::Mlx4Srq(std::shared_ptr<VerbsProvider> provider, const verbs::Pd& pd,
                 const verbs::SrqAttributes& attributes,
                 verbs::ObjectListener& listener)
    : provider_(std::move(provider)),
      pd_(pd),
      max_requests_(attributes.max_requests),
      listener_(listener),
      pending_(attributes.max_requests, attributes.max_sges),
      // One slot is always free: the end of the list.
      slots_(std::bit_ceil(attributes.max_requests + 1)),
      last_free_(slots() - 1),
      next_(slots()) {}

Mlx4Srq::~Mlx4Srq() {
  OnGone();
  provider_->Forget(*this);
}

absl::Status Mlx4Srq::Start(uint32_t limit) {
  Resources& resources = provider_->resources();
  const int log_slots = LogOf(slots());
  IBEMU_ASSIGN_OR_RETURN(share_, provider_->receive_memory().ShareOf(
                                     static_cast<const Mlx4Pd&>(pd_).process));
  IBEMU_ASSIGN_OR_RETURN(
      memory_, QueueMemory::Create(
                   resources, RoundUpToPage(size_t{slots()} << kLogSharedWqe)));
  IBEMU_ASSIGN_OR_RETURN(
      record_, resources.adapter().function().Allocate(sizeof(uint32_t)));
  WriteCounter(*record_, 0);
  for (uint32_t slot = 0; slot < slots(); ++slot) {
    Link(slot, (slot + 1) % slots());
  }
  IBEMU_ASSIGN_OR_RETURN(number_, resources.TakeSrq());
  has_number_ = true;
  prm::SrqContext context;
  context.pd = resources.pd();
  context.log_srq_size = static_cast<uint8_t>(log_slots);
  context.srqn = number_;
  context.log_stride = kLogSharedWqe - kLogSharedUnit;
  context.mtt_base_addr = memory_->mtts();
  context.db_record_addr = record_->iova();
  IBEMU_RETURN_IF_ERROR(resources.adapter().Give(prm::Opcode::kSw2HwSrq,
                                                 context, {.in = number_}));
  running_ = true;
  provider_->Add(*this);
  return limit == 0 ? absl::OkStatus() : SetLimit(limit);
}

// The adapter gives the memory up before the memory is freed.
void Mlx4Srq::OnGone() {
  if (*self_ == nullptr) return;
  *self_ = nullptr;
  if (running_) {
    provider_->resources().adapter().TakeDown(
        prm::Opcode::kHw2SwSrq, {.in = number_, .op = prm::kNoOutbox});
    running_ = false;
  }
  if (has_number_) provider_->resources().ReturnSrq(number_);
  provider_->receive_memory().StopWaiting(this);
  while (pending_.Take()) continue;
  for (Slot& slot : slots_) slot = {};
  memory_.reset();
  record_.reset();
}

verbs::SrqAttributes Mlx4Srq::Query() const {
  return {.max_requests = max_requests_,
          .max_sges = pending_.max_sges(),
          .limit = limit_};
}

absl::Status Mlx4Srq::Resize(uint32_t /*max_requests*/) {
  return absl::UnimplementedError(
      "the adapter does not resize shared receive queues");
}

absl::Status Mlx4Srq::SetLimit(uint32_t limit) {
  if (limit > max_requests_) {
    return absl::InvalidArgumentError("a limit above the size");
  }
  if (!running_) return absl::UnavailableError("the adapter is gone");
  IBEMU_RETURN_IF_ERROR(provider_->resources()
                            .commands()
                            .Run(prm::Opcode::kArmSrq, {.in = number_}, limit)
                            .status());
  limit_ = limit;
  return absl::OkStatus();
}

absl::Status Mlx4Srq::PostReceive(std::span<verbs::ReceiveRequest> requests,
                                  size_t& taken) {
  if (!running_) return absl::UnavailableError("the adapter is gone");
  pending_.SetMaxRequests(max_requests_ -
                          static_cast<uint32_t>(used_ + arriving_));
  absl::Status posted = pending_.Post(requests, taken);
  Pump();
  return posted;
}

void Mlx4Srq::Pump() {
  while (!waits_) {
    auto request = pending_.Take();
    if (!request) return;
    auto receive = MakeReceive(*request, *provider_, share_, &pd_, kMaxMessage);
    if (!receive) {
      pending_.PutBack(*std::move(request));
      waits_ = true;
      return provider_->receive_memory().CallWhenReturned(this, [self = self_] {
        if (*self == nullptr) return;
        (*self)->waits_ = false;
        (*self)->Pump();
      });
    }
    const uint32_t slot = first_free_;
    first_free_ = next_[slot];
    WriteReceivePointer(receive->pointer, PlaceOf(slot) + kNext);
    slots_[slot] = {.posted = true, .receive = *std::move(receive)};
    ++used_;
    WriteCounter(*record_, ++posted_);
  }
}

std::optional<PostedReceive> Mlx4Srq::Take(uint32_t slot) {
  if (slot >= slots() || !slots_[slot].posted) return std::nullopt;
  PostedReceive receive = std::move(slots_[slot].receive);
  slots_[slot] = {};
  --used_;
  Link(last_free_, slot);
  last_free_ = slot;
  Pump();
  return receive;
}

void Mlx4Srq::OnEvent(verbs::AsyncEventType type) {
  // This event comes once for each limit that is set.
  if (type == verbs::AsyncEventType::kSrqLimit) limit_ = 0;
  listener_.OnEvent(type);
}

std::byte* Mlx4Srq::PlaceOf(uint32_t slot) {
  return memory_->bytes().data() + (size_t{slot} << kLogSharedWqe);
}

void Mlx4Srq::Link(uint32_t slot, uint32_t next) {
  next_[slot] = next;
  std::array<std::byte, kNext> bytes;
  wire::Encode(prm::NextSegment{.next_wqe_index = static_cast<uint16_t>(next)},
               bytes);
  CopyWords(bytes, PlaceOf(slot));
}

}  // namespace ibemu::hca::mlx4
