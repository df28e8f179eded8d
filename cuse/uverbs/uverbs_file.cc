#include "cuse/uverbs/uverbs_file.h"

#include <poll.h>
#include <sys/syscall.h>

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cuse/client/caller_memory.h"
#include "cuse/client/process_life.h"
#include "cuse/client/write_memory.h"
#include "cuse/rings/shared_memory.h"
#include "cuse/rings/take_rings.h"
#include "fast_path/rings/attach_rings.h"

namespace ibemu::cuse {
namespace {

// Returns the descriptor that the blocked thread writes to; -1 if it can't be
// found out.
int DescriptorOfWrite(pid_t tid) {
  constexpr int kTries = 1000;  // the thread may not be asleep yet
  const absl::StatusOr<BlockedCall> call = CallOf(tid, kTries);
  if (!call.ok() || call->number != SYS_write) return -1;
  return static_cast<int>(call->arguments[0]);
}

// Who may no longer write to the file may still give commands by rings for so
// long at most: to look again takes as long as a few of them.
constexpr absl::Duration kRightsLast = absl::Milliseconds(10);

// Returns the number of the command, whatever is wrong with it.
std::optional<uint32_t> NumberOf(Bytes written) {
  if (written.size() < sizeof(ib_uverbs_cmd_hdr)) return std::nullopt;
  return verbs::ReadAs<ib_uverbs_cmd_hdr>(written).command &
         IB_USER_VERBS_CMD_COMMAND_MASK;
}

}  // namespace

UverbsFile::UverbsFile(std::shared_ptr<mad::Host> host,
                       verbs::Provider& provider,
                       verbs::AdapterIdentity identity, Timers& timers,
                       WorkerPool& workers,
                       std::shared_ptr<UverbsOffers> offers,
                       std::shared_ptr<PinnedPages> pinned, RingSet* rings,
                       UverbsFiles* uverbs_files)
    : host_(std::move(host)),
      timers_(timers),
      workers_(workers),
      ring_set_(rings),
      offers_(std::move(offers)),
      pinned_(std::move(pinned)),
      context_(provider, identity, static_cast<verbs::ContextClient&>(*this),
               timers) {
  if (uverbs_files != nullptr) listed_.emplace(*uverbs_files, *this);
}

void UverbsFile::Open(bool /*nonblock*/, OpenReply reply) {
  if (host_->removed()) return reply.Fail(Errno::kNoSuchAddress);
  watch_ = host_->Watch([this] { OnHostChanged(); });
  reply.Opened();
}

void UverbsFile::Read(bool nonblock, ReadReply reply) {
  events_.Read(nonblock, std::move(reply));
}

uint32_t UverbsFile::Poll() {
  if (events_.bound()) return events_.Poll();
  return POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM;  // DEFAULT_POLLMASK
}

// Linux's own command fails as on a kernel with write() only; libibverbs then
// does not ask again.
void UverbsFile::Ioctl(const IoctlRequest& request, IoctlReply reply) {
  if (rings_ != nullptr) rings_->CatchUp();
  Errno result = Errno::kNotTty;
  if (request.command == fast_path::kAttachRings) result = AttachRings(request);
  if (request.command == fast_path::kLookAtRings && rings_ != nullptr) {
    result = Errno::kOk;
  }
  if (result != Errno::kOk) return reply.Fail(result);
  reply.Done();
}

// Who may not write may have nothing carried out in any other way either.
Errno UverbsFile::AttachRings(const IoctlRequest& ioctl) {
  const Errno state = rings_ != nullptr    ? Errno::kBusy
                      : host_->removed()   ? Errno::kIo
                      : !ioctl.may_write() ? Errno::kAccess
                                           : Errno::kOk;
  std::optional<SharedMemory> memory;
  const Errno error = TakeRings(ioctl, ring_set_, state,
                                sizeof(fast_path::UverbsRingMemory), memory);
  if (error != Errno::kOk) return error;
  may_write_ = ioctl.may_write;
  could_write_ = timers_.Now();
  ring_process_ = static_cast<uint64_t>(memory->process());
  RingSet::Client client = {
      .user = ioctl.user,
      .process = memory->process(),
      .file = absl::StrCat("uverbs of ", host_->device().node_description())};
  rings_ = std::make_unique<UverbsRings>(
      *ring_set_, std::move(client), *std::move(memory),
      static_cast<UverbsRings::Owner&>(*this));
  return Errno::kOk;
}

bool UverbsFile::MayCommand() {
  if (host_->removed()) return false;
  const absl::Time now = timers_.Now();
  if (now - could_write_ < kRightsLast) return true;
  could_write_ = now;
  return may_write_();
}

// Nobody waits in a write(), so no thread's memory is there to be accessed: all
// that the command needs has come with it.
void UverbsFile::Execute(size_t slot, Bytes command, std::optional<Bytes> data,
                         bool awaited) {
  std::optional<verbs::ReadData> read;
  if (data) read = {ring_process_, *data};
  context_.Execute(
      command, /*caller=*/0,
      [self = self_, slot,
       number = NumberOf(command)](const verbs::Answer& answer) {
        if (*self == nullptr) return;
        // Who does not wait has been told that all is well: it was, until
        // another thread of the client reset or destroyed the queue pair.
        const Errno error = answer.status.ok()
                                ? Errno::kOk
                                : (*self)->Refuse(number, answer.status);
        (*self)->rings_->Answer(slot, error, answer.response);
      },
      read, awaited);
}

void UverbsFile::OnNoReceive() {
  if (rings_ != nullptr) rings_->TakeReceives();
}

void UverbsFile::OnPromise(uint32_t handle, const verbs::QpObject* qp) {
  if (rings_ != nullptr) rings_->OnPromise(handle, qp);
}

verbs::ClientCompletions* UverbsFile::CompletionsOf(uint32_t cq) {
  return rings_ == nullptr ? nullptr : rings_->CompletionsOf(cq);
}

verbs::ClientCompletions* UverbsFile::PlaceFor(uint32_t cq) {
  return rings_ == nullptr ? nullptr : rings_->PlaceFor(cq);
}

void UverbsFile::OnCqGone(uint32_t cq) {
  if (rings_ != nullptr) rings_->OnCqGone(cq);
}

void UverbsFile::OnArrival() {
  if (rings_ != nullptr) rings_->OnArrival();
}

void UverbsFile::OnHostChanged() {
  if (host_->removed() && rings_ != nullptr) rings_->Close();
}

void UverbsFile::Write(Written data, WriteReply reply) {
  if (rings_ != nullptr) {
    rings_->CatchUp();
    context_.PollTaken();
  }
  if (host_->removed()) return reply.Fail(Errno::kIo);
  const uint64_t process = context_.process();
  if (process != 0 &&
      static_cast<uint64_t>(ClientOfThread(data.caller)) != process) {
    ++others_commands_;
  }
  const uint64_t number = ++last_;
  parked_.emplace(number, Parked{std::move(reply), data.size(), data.caller,
                                 NumberOf(data.body)});
  context_.Execute(data.body, data.caller,
                   [self = self_, number](verbs::Answer answer) {
                     if (*self == nullptr) return;
                     (*self)->OnAnswer(number, std::move(answer));
                   });
}

Errno UverbsFile::Refuse(std::optional<uint32_t> command,
                         const absl::Status& status) {
  if (listed_ && command) listed_->TellRefusal(*command, status);
  return VerbsErrno(status);
}

void UverbsFile::OnAnswer(uint64_t number, verbs::Answer answer) {
  Parked& parked = parked_.at(number);
  parked.answer = std::move(answer);
  struct Response {
    std::vector<std::byte> bytes;
    bool written = false;  // set by the job, then read by the loop
  };
  auto response = std::make_shared<Response>(
      Response{std::exchange(parked.answer.response, {})});
  const uint64_t address = parked.answer.address;
  if (response->bytes.empty() || address == 0) {
    return OnResponseWritten(number, true);
  }
  // A thread of its own: what holds up its answer is not to hold up those of
  // others in its process.
  workers_.RunBriefly(
      ClientId{static_cast<uint64_t>(parked.caller)},
      [response, tid = parked.caller, address] {
        response->written = WriteMemory(tid, address, response->bytes).ok();
      },
      [self = self_, number, response](WorkerPool::Outcome outcome) {
        if (*self == nullptr) return;
        (*self)->OnResponseWritten(
            number, outcome == WorkerPool::Outcome::kDone && response->written);
      });
}

void UverbsFile::OnResponseWritten(uint64_t number, bool written) {
  Parked parked = std::move(parked_.extract(number).mapped());
  verbs::Answer& answer = parked.answer;
  if (!answer.status.ok()) {
    return parked.reply.Fail(Refuse(parked.command, answer.status));
  }
  if (written) return parked.reply.Written(parked.size);
  if (answer.undo) answer.undo();
  parked.reply.Fail(Errno::kFault);
}

absl::StatusOr<int> UverbsFile::GiveDescriptor(
    Events events, pid_t caller, std::shared_ptr<verbs::EventQueue> queue) {
  UverbsEventFile* file = offers_->Take(caller);
  if (file == nullptr) {
    file = offers_->Take(static_cast<pid_t>(ClientOf(caller)));
  }
  if (file != nullptr) {
    file->Bind(std::move(queue));
    return file->number();
  }
  if (events == Events::kAsynchronous) {
    if (const int fd = DescriptorOfWrite(caller); fd >= 0) {
      events_.Bind(std::move(queue));
      return fd;
    }
  }
  return absl::AbortedError("no descriptor can be given");
}

std::shared_ptr<verbs::Memory> UverbsFile::MemoryOf(pid_t caller) {
  ClientId process = ClientOfThread(caller);
  const auto known = memories_.find(process);
  // Numbers of threads and processes are reused.  The known memory is the right
  // one if its process lives, and if the thread, which waits for us, is one of
  // its threads.
  if (known != memories_.end() && known->second->Lives() &&
      HasThread(static_cast<pid_t>(process), caller)) {
    return known->second;
  }
  absl::erase_if(memories_,
                 [](const auto& entry) { return !entry.second->Lives(); });
  clients_.erase(caller);
  process = ClientOfThread(caller);
  std::shared_ptr<ClientMemory>& memory = memories_[process];
  if (memory == nullptr) {
    memory = std::make_shared<ClientMemory>(workers_, process, pinned_);
  }
  return memory;
}

// Looking up the process costs more than all else, and a client needs it all
// the time.
ClientId UverbsFile::ClientOfThread(pid_t tid) {
  constexpr size_t kMany = 256;
  const auto known = clients_.find(tid);
  if (known != clients_.end()) return known->second;
  if (clients_.size() == kMany) clients_.clear();
  return clients_.emplace(tid, ClientOf(tid)).first->second;
}

}  // namespace ibemu::cuse
