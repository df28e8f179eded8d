// Jobs that normally take microseconds.
#ifndef IBEMU_BASE_BRIEF_JOBS_H_
#define IBEMU_BASE_BRIEF_JOBS_H_

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"

namespace ibemu {

// A BriefJobs runs jobs for which handing over to another thread would cost
// more than the job itself.  It is an interface of the loop: the loop's own
// thread runs the job, and another thread takes the loop over if the job does
// not end in time.
class BriefJobs {
 public:
  virtual ~BriefJobs() = default;

  struct BriefJob {
    // The job.  It runs with no lock and no state of the loop, so it must own
    // what it touches.
    absl::AnyInvocable<void()> run;
    // Called on the loop when `run` still holds its thread up and another
    // thread has taken the loop over.
    absl::AnyInvocable<void()> late;
    // Called on the loop when `run` has returned.  `took` is how long it ran.
    absl::AnyInvocable<void(absl::Duration took)> done;
  };

  // Runs `job` soon, never before this call has returned.  Jobs start in the
  // order of the calls.
  virtual void RunBriefly(BriefJob job) = 0;
};

}  // namespace ibemu

#endif  // IBEMU_BASE_BRIEF_JOBS_H_
