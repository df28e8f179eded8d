#include "cuse/uverbs/system_uverbs_file.h"

#include <rdma/ib_user_verbs.h>

#include "cuse/client/caller_memory.h"
#include "cuse/client/event_injection.h"
#include "cuse/client/stopped_caller.h"
#include "verbs/uverbs/command.h"

namespace ibemu::cuse {
namespace {

bool WantsDescriptor(Bytes command) {
  if (command.size() < sizeof(ib_uverbs_cmd_hdr)) return false;
  const auto header = verbs::ReadAs<ib_uverbs_cmd_hdr>(command);
  return header.command == IB_USER_VERBS_CMD_GET_CONTEXT ||
         header.command == IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL;
}

}  // namespace

SystemUverbsFile::SystemUverbsFile(std::unique_ptr<File> file,
                                   WorkerPool& workers)
    : file_(std::move(file)), workers_(workers) {
  file_->SetListener(this);
}

void SystemUverbsFile::Write(Written data, WriteReply reply) {
  if (WantsDescriptor(data.body) && data.caller != 0 &&
      repeating_.erase(data.caller) == 0) {
    return GiveEventFile(std::move(data), std::move(reply));
  }
  file_->Write(std::move(data), std::move(reply));
}

void SystemUverbsFile::GiveEventFile(Written data, WriteReply reply) {
  const uint64_t number = ++last_;
  const pid_t tid = data.caller;
  parked_.emplace(number, Parked{std::move(data), std::move(reply)});
  // Set by the worker, then read by the loop.
  auto writes_again = std::make_shared<bool>(false);
  workers_.Run(
      ClientOf(tid),
      [tid, number, writes_again, self = self_, to_loop = workers_.ToLoop()] {
        absl::StatusOr<StoppedCaller> caller = StoppedCaller::Seize(tid);
        if (!caller.ok()) return;
        to_loop([self, number] {
          if (*self != nullptr) (*self)->WriteAgain(number);
        });
        const absl::Status given = InjectEventFile(*caller);
        *writes_again = !absl::IsResourceExhausted(given) &&
                        !absl::IsNotFound(given) &&
                        !absl::IsFailedPrecondition(given);
      },
      [tid, number, writes_again, self = self_](WorkerPool::Outcome outcome) {
        if (*self == nullptr) return;
        (*self)->OnJobDone(
            number, tid,
            outcome != WorkerPool::Outcome::kDone || *writes_again);
      });
}

// The thread will be stopped as soon as it has this answer.
void SystemUverbsFile::WriteAgain(uint64_t number) {
  auto node = parked_.extract(number);
  if (node.empty()) return;
  repeating_.insert(node.mapped().data.caller);
  node.mapped().reply.Fail(Errno::kInterrupted);
}

void SystemUverbsFile::OnJobDone(uint64_t number, pid_t tid,
                                 bool writes_again) {
  if (auto node = parked_.extract(number); !node.empty()) {
    // The thread could not be stopped.
    file_->Write(std::move(node.mapped().data), std::move(node.mapped().reply));
  } else if (!writes_again) {
    repeating_.erase(tid);
  }
}

}  // namespace ibemu::cuse
