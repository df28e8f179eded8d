// Threads for what may block: above all every access to a client's memory.
#ifndef IBEMU_BASE_WORKER_POOL_H_
#define IBEMU_BASE_WORKER_POOL_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "base/brief_jobs.h"
#include "base/timers.h"

namespace ibemu {

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
    int stuck_threads = 32;  // with that many, new jobs fail at once
    absl::Duration patience = absl::Seconds(1);
  };
  enum class Outcome {
    kDone,
    kStuck,  // it did not end in time, or an earlier one of the client didn't
  };
  using Job = absl::AnyInvocable<void()>;            // on a worker
  using Finish = absl::AnyInvocable<void(Outcome)>;  // on the loop thread

  // Threads start with the first jobs.  `timers` and `brief` must outlive the
  // pool; without `brief` threads run all jobs.
  WorkerPool(Timers& timers, Post post, Limits limits,
             BriefJobs* brief = nullptr);
  WorkerPool(Timers& timers, Post post)
      : WorkerPool(timers, std::move(post), Limits()) {}

  // Waits for running jobs as long as the patience lasts and leaves the others
  // behind.  Calls no Finish, and `post` never again.
  ~WorkerPool();

  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Runs `job`, then `finish` once, never before Run() returns.  A job may
  // outlive kStuck and the pool, so it must own what it touches.
  void Run(ClientId client, Job job, Finish finish);

  // The same for a job that takes microseconds, unless the client's memory
  // makes it wait: it needs no other thread then.  A client whose jobs did wait
  // has the next ones run by threads again.
  void RunBriefly(ClientId client, Job job, Finish finish);

  // From a job: runs `task` on the loop thread while the job goes on.  A copy
  // may be kept; it does nothing once the pool is gone.
  Post ToLoop() const;

 private:
  class Threads;
  class Ledger;

  std::shared_ptr<Threads> threads_;
  std::shared_ptr<Ledger> ledger_;
  absl::Duration patience_;
};

}  // namespace ibemu

#endif  // IBEMU_BASE_WORKER_POOL_H_
