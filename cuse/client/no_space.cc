#include "cuse/client/no_space.h"

#include <memory>
#include <utility>

#include "cuse/client/caller_memory.h"
#include "cuse/client/stopped_caller.h"

namespace ibemu::cuse {
namespace {

// Shared by the worker and the loop; each member belongs to one of them.
struct Delivery {
  pid_t tid;
  size_t room;
  std::vector<std::byte> data;
  NoSpaceAnswer found = NoSpaceAnswer::kFaultLast;  // worker, then loop
  absl::AnyInvocable<void(NoSpaceAnswer)> answer;   // loop; null once called
};

void Answer(Delivery& delivery, NoSpaceAnswer how) {
  if (delivery.answer) std::exchange(delivery.answer, nullptr)(how);
}

void Fill(const std::shared_ptr<Delivery>& delivery, const Post& to_loop) {
  const auto& [tid, room, data, found, answer] = *delivery;
  const absl::Status filled = FillReadBuffer(tid, room, data);
  if (filled.ok()) {
    delivery->found = NoSpaceAnswer::kNoSpace;
    return;
  }
  if (!absl::IsNotFound(filled)) return;

  absl::StatusOr<StoppedCaller> caller = StoppedCaller::Seize(tid);
  if (!caller.ok()) return;
  delivery->found = NoSpaceAnswer::kNoSpace;
  to_loop([delivery] { Answer(*delivery, NoSpaceAnswer::kNoSpace); });
  caller->Fill(room, data).IgnoreError();  // too late for another way
}

}  // namespace

void DeliverNoSpace(WorkerPool& workers, pid_t tid, size_t room,
                    std::vector<std::byte> data,
                    absl::AnyInvocable<void(NoSpaceAnswer)> answer) {
  auto delivery = std::make_shared<Delivery>(
      Delivery{tid, room, std::move(data), NoSpaceAnswer::kFaultLast,
               std::move(answer)});
  workers.Run(
      ClientOf(tid),
      [delivery, to_loop = workers.ToLoop()] { Fill(delivery, to_loop); },
      [delivery](WorkerPool::Outcome outcome) {
        const bool done = outcome == WorkerPool::Outcome::kDone;
        Answer(*delivery, done ? delivery->found : NoSpaceAnswer::kFault);
      });
}

}  // namespace ibemu::cuse
