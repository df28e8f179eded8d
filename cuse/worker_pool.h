// Threads for what may block: above all every access to a client's memory.
#ifndef IBEMU_CUSE_WORKER_POOL_H_
#define IBEMU_CUSE_WORKER_POOL_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "base/timers.h"

namespace ibemu::cuse {

// Runs a task on the loop thread soon; any thread may call it (Loop::Post).
using Post = std::function<void(absl::AnyInvocable<void()>)>;

// Whose work a job is, e.g. a process id.
enum class ClientId : uint64_t {};

// A page of a client may be backed by our own mount, or by a dead one: touching
// it then takes for ever.  So each client has at most one job running, and one
// whose job takes longer than the patience is stuck: its other jobs fail and
// its thread is written off until it comes back.  Other clients notice nothing.
class WorkerPool {
 public:
  struct Limits {
    int threads = 4;         // that work, stuck ones not counted
    int stuck_threads = 32;  // beyond that many, jobs fail at once
    absl::Duration patience = absl::Seconds(1);
  };
  enum class Outcome {
    kDone,
    kStuck,  // it did not end in time, or an earlier one of the client didn't
  };
  using Job = absl::AnyInvocable<void()>;            // on a worker
  using Finish = absl::AnyInvocable<void(Outcome)>;  // on the loop thread

  // Threads start with the first jobs.  `timers` must outlive the pool, and
  // what `post` was given must not run after it unless `post`'s loop does.
  WorkerPool(Timers& timers, Post post, Limits limits);
  WorkerPool(Timers& timers, Post post);

  // Waits for running jobs, but leaves stuck ones behind; calls no Finish.
  ~WorkerPool();

  // Runs `job`, then `finish` once.  A job may outlive kStuck and the pool, so
  // it must own what it touches.
  void Run(ClientId client, Job job, Finish finish);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_WORKER_POOL_H_
