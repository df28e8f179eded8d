// The one loop: descriptors, timers and signals of a process.
#ifndef IBEMU_LOOP_LOOP_H_
#define IBEMU_LOOP_LOOP_H_

#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "base/brief_jobs.h"
#include "base/polled_source.h"
#include "base/timers.h"

namespace ibemu {

// Runs handlers one after the other, on a thread of its own that brief jobs may
// make another: so handlers keep nothing by thread.  Two implementations behave
// alike: UringLoop, and EpollLoop where io_uring is forbidden.
class Loop : public Timers, public BriefJobs {
 public:
  // Calls `ready` whenever `fd` is readable or hung up, until Forget().  Level
  // triggered; `fd` is not owned.
  virtual absl::Status Watch(int fd, absl::AnyInvocable<void()> ready) = 0;
  // Same, for a descriptor whose peer, once answered, often asks again at once:
  // `attempt` says whether there was something, and may be called when nothing
  // is, as long as waiting busily pays off.
  virtual absl::Status WatchEagerly(int fd,
                                    absl::AnyInvocable<bool()> attempt) = 0;
  // Like Watch(), for writability.
  virtual absl::Status WatchWritable(int fd,
                                     absl::AnyInvocable<void()> ready) = 0;
  // May be called from a handler, its own included.
  virtual void Forget(int fd) = 0;

  // Looks at `source` in each turn, and waits busily for it as long as that
  // pays off.  Null: at none any more.  REQUIRES: `source` lives until then.
  virtual void LookAt(PolledSource* source) = 0;

  // Runs `task` on the loop thread soon.  The only call that other threads may
  // make.
  virtual void Post(absl::AnyInvocable<void()> task) = 0;

  // Returns after Stop().
  virtual void Run() = 0;
  virtual void Stop() = 0;
};

// io_uring when the kernel allows it, else epoll.  IBEMU_LOOP=uring|epoll
// forces one.
absl::StatusOr<std::unique_ptr<Loop>> MakeLoop();

}  // namespace ibemu

#endif  // IBEMU_LOOP_LOOP_H_
