// WorkerPool: threads for work that may block, above all every access to a
// client's memory.
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

// The function that runs a task on the loop thread soon.  Any thread may call
// it (Loop::Post).
using Post = std::function<void(absl::AnyInvocable<void()>)>;

// The client that a job belongs to, for example a process id.
enum class ClientId : uint64_t {};

// The owner of clients, who has a share of the threads: for example a user id.
enum class OwnerId : uint64_t {};

// A pool of threads.  A page of a client may be backed by our own mount, or by
// a dead one, and touching it then takes forever.  So each client has at most
// one job running, and a client whose job takes longer than the patience is
// stuck: its other jobs fail, and its thread is written off until it comes
// back.  Other clients are not affected, and clients of other owners find
// threads left however many one owner has.
class WorkerPool {
 public:
  struct Limits {
    int threads = 4;  // that work, without stuck ones
    // With as many stuck ones, new jobs fail at once: those of an owner, and
    // all.
    int stuck_of_owner = 32;
    int stuck_threads = 256;
    absl::Duration patience = absl::Seconds(1);
    // The end of the pool waits no longer for running jobs.
    absl::Duration at_end = absl::InfiniteDuration();
  };
  enum class Outcome {
    kDone,
    kStuck,  // it, or an earlier job of the client, did not end in time
  };
  using Job = absl::AnyInvocable<void()>;            // on a worker
  using Finish = absl::AnyInvocable<void(Outcome)>;  // on the loop thread

  // Finds the owner of a client.  It may be asked once for many jobs.
  using OwnerOf = std::function<OwnerId(ClientId)>;

  // Threads start with the first jobs.  Without `brief`, threads run all jobs;
  // without `owner_of`, all clients have one owner.  REQUIRES: `timers` and
  // `brief` outlive the pool.
  WorkerPool(Timers& timers, Post post, Limits limits,
             BriefJobs* brief = nullptr, OwnerOf owner_of = {});
  WorkerPool(Timers& timers, Post post)
      : WorkerPool(timers, std::move(post), Limits()) {}

  // Waits for running jobs as long as the patience, or `at_end`, lasts, and
  // then abandons them.  Calls no Finish, and never calls `post` again.
  ~WorkerPool();

  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Runs `job`, then calls `finish` once, never before Run() returns.  A job
  // may go on after kStuck and after the end of the pool, so it must own what
  // it touches.
  void Run(ClientId client, Job job, Finish finish);

  // Runs a job that takes microseconds unless the client's memory makes it
  // wait.  Without that wait it needs no other thread.  If jobs of a client did
  // wait, threads run its next ones.
  void RunBriefly(ClientId client, Job job, Finish finish);

  // Returns a function by which a job runs a task on the loop thread while the
  // job itself goes on.  A copy may be kept; it does nothing once the pool is
  // gone.
  Post ToLoop() const;

 private:
  class Threads;
  class Scheduler;

  std::shared_ptr<Threads> threads_;
  std::shared_ptr<Scheduler> scheduler_;
  absl::Duration at_end_;
};

}  // namespace ibemu

#endif  // IBEMU_BASE_WORKER_POOL_H_
