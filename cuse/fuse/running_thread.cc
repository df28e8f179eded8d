#include "cuse/fuse/running_thread.h"

namespace ibemu::cuse {

bool RunningThread::IsElsewhere(
    const absl::StatusOr<absl::Duration>& cpu_time) {
  constexpr int kOften = 10;
  if (!cpu_time.ok() || *cpu_time > cpu_time_) ++times_;
  if (cpu_time.ok()) cpu_time_ = *cpu_time;
  return times_ >= kOften;
}

}  // namespace ibemu::cuse
