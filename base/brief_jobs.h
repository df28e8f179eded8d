// Jobs that take microseconds, unless somebody makes them wait.
#ifndef IBEMU_BASE_BRIEF_JOBS_H_
#define IBEMU_BASE_BRIEF_JOBS_H_

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"

namespace ibemu {

// To hand such a job to another thread costs more than the job.  So the loop's
// own thread runs it; another takes the loop over if it does not end in time.
class BriefJobs {
 public:
  virtual ~BriefJobs() = default;

  struct BriefJob {
    // Runs with no lock and no state of the loop: it must own what it touches.
    absl::AnyInvocable<void()> run;
    // On the loop, when `run` holds its thread up and another has the loop.
    absl::AnyInvocable<void()> late;
    // On the loop, when `run` has returned, which took so long.
    absl::AnyInvocable<void(absl::Duration took)> done;
  };

  // Soon, in the order of the calls; never before it returns.
  virtual void RunBriefly(BriefJob job) = 0;
};

}  // namespace ibemu

#endif  // IBEMU_BASE_BRIEF_JOBS_H_
