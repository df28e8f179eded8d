#include "cuse/client/argument_probe.h"

#include <memory>
#include <utility>

#include "cuse/client/caller_memory.h"
#include "cuse/client/write_memory.h"

namespace ibemu::cuse {

void ProbeArgument(WorkerPool& workers, pid_t tid, uint64_t address,
                   std::vector<std::byte> argument,
                   absl::AnyInvocable<void(bool writable)> answer) {
  struct Probe {
    std::vector<std::byte> argument;
    bool fault = false;  // set by the worker, then read by the loop
  };
  auto probe = std::make_shared<Probe>(Probe{std::move(argument)});
  workers.RunBriefly(
      ClientOf(tid),
      [probe, tid, address] {
        const absl::Status written = WriteMemory(tid, address, probe->argument);
        probe->fault = absl::IsFailedPrecondition(written);
      },
      [probe, answer = std::move(answer)](WorkerPool::Outcome outcome) mutable {
        answer(outcome != WorkerPool::Outcome::kDone || !probe->fault);
      });
}

}  // namespace ibemu::cuse
