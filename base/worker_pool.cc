#include "base/worker_pool.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/worker_threads.h"

namespace ibemu {

// The scheduler of the clients' jobs: it knows those of each client, and
// decides where they run.  Loop thread only.
class WorkerPool::Scheduler
    : public std::enable_shared_from_this<WorkerPool::Scheduler> {
 public:
  Scheduler(Timers& timers, std::shared_ptr<Threads> threads, Limits limits,
            BriefJobs* brief, OwnerOf owner_of)
      : timers_(&timers),
        threads_(std::move(threads)),
        limits_(limits),
        brief_(brief),
        owner_of_(std::move(owner_of)) {}

  void Run(ClientId id, bool brief, Job job, Finish finish) {
    Client& client = clients_[id];
    if (client.stuck) return Refuse(std::move(finish));
    if (!client.held_up) client.owner = Owner(id);
    if (held_up_ >= limits_.stuck_threads ||
        HeldUpOf(client.owner) >= limits_.stuck_of_owner) {
      if (client.jobs.empty()) clients_.erase(id);
      return Refuse(std::move(finish));
    }
    client.jobs.push_back({std::move(job), std::move(finish), brief});
    if (client.jobs.size() == 1) Start(id, client);
  }

  void Close() {
    closed_ = true;
    for (auto& [id, client] : clients_) timers_->Cancel(client.patience);
    clients_.clear();
  }

 private:
  struct Task {
    Job job;
    Finish finish;
    bool brief;
  };
  struct Client {
    std::deque<Task> jobs;  // the first one runs
    OwnerId owner{};
    bool brief = false;    // it does so on the loop thread
    uint64_t running = 0;  // else: its number
    bool held_up = false;  // it takes a thread beyond those that work
    bool seen_running = false;
    bool stuck = false;
    TimerId patience = TimerId::kNone;
  };

  // The time for which a client may hold up the loop, and how much of it is
  // used up.
  struct LoopTimeBudget {
    absl::Duration used;
    absl::Time noted = absl::InfinitePast();
    absl::Time slow_until = absl::InfinitePast();

    // Uses up `took`.  One part in `share` of the time that passes comes back;
    // who has used up `limit` is slow for a while.
    void Use(absl::Time now, absl::Duration took, int share,
             absl::Duration limit) {
      constexpr absl::Duration kPenalty = absl::Seconds(1);
      used =
          std::max(used - (now - noted) / share, absl::ZeroDuration()) + took;
      noted = now;
      if (used < limit) return;
      used = absl::ZeroDuration();
      slow_until = now + kPenalty;
    }
  };
  // The longest time for which one job holds up the loop.  A job that takes
  // longer makes its client slow.
  static constexpr absl::Duration kLate = absl::Milliseconds(10);

  // An owner that was found is not looked up again: clients are many times in
  // need of it, and a number that is reused only confuses shares.
  OwnerId Owner(ClientId id) {
    constexpr size_t kMany = 4096;
    if (!owner_of_) return OwnerId{};
    const auto known = owners_.find(id);
    if (known != owners_.end()) return known->second;
    if (owners_.size() == kMany) owners_.clear();
    return owners_.emplace(id, owner_of_(id)).first->second;
  }

  int HeldUpOf(OwnerId owner) const {
    const auto found = held_up_of_.find(owner);
    return found == held_up_of_.end() ? 0 : found->second;
  }

  void HoldUp(Client& client) {
    client.held_up = true;
    ++held_up_;
    ++held_up_of_[client.owner];
  }

  void LetGo(Client& client) {
    if (!std::exchange(client.held_up, false)) return;
    --held_up_;
    if (--held_up_of_[client.owner] == 0) held_up_of_.erase(client.owner);
  }

  void Refuse(Finish finish) {
    timers_->RunSoon(
        [self = shared_from_this(), finish = std::move(finish)]() mutable {
          if (!self->closed_) finish(Outcome::kStuck);
        });
  }

  void Start(ClientId id, Client& client) {
    Task& task = client.jobs.front();
    client.brief = brief_ != nullptr && task.brief && !IsSlow(id);
    if (client.brief) {
      return brief_->RunBriefly(
          {.run = std::move(task.job),
           .late = [self = shared_from_this(), id] { self->OnLate(id); },
           .done =
               [self = shared_from_this(), id](absl::Duration took) {
                 self->NoteTime(id, took);
                 self->OnDone(id);
               }});
    }
    client.running = ++last_job_;
    client.seen_running = false;
    Wait(id, client);
    threads_->Enqueue(client.running, std::move(task.job),
                      [self = shared_from_this(), id] { self->OnDone(id); });
  }

  // Returns true if the client held up the loop, or if all clients together
  // did.
  bool IsSlow(ClientId id) {
    const auto found = budgets_.find(id);
    const absl::Time now = timers_->Now();
    return now < everybody_.slow_until ||
           (found != budgets_.end() && now < found->second.slow_until);
  }

  // Records that a client held up the loop.  A client that does so for more
  // than a hundredth of the time, or for long, gets no brief jobs for a while.
  // Many clients that are new each time count as one.
  void NoteTime(ClientId id, absl::Duration took) {
    constexpr absl::Duration kUsual = absl::Microseconds(200);
    constexpr size_t kMany = 256;
    if (took < kUsual) return;
    took = std::min(took, kLate);
    if (budgets_.size() == kMany) budgets_.clear();
    const absl::Time now = timers_->Now();
    budgets_[id].Use(now, took, 100, absl::Milliseconds(10));
    everybody_.Use(now, took, 10, absl::Milliseconds(50));
  }

  void OnLate(ClientId id) {
    const auto it = clients_.find(id);
    if (closed_ || it == clients_.end()) return;
    NoteTime(id, kLate);
    HoldUp(it->second);
    it->second.seen_running = true;
    Wait(id, it->second);
  }

  void Wait(ClientId id, Client& client) {
    client.patience = timers_->RunAfter(
        limits_.patience,
        [self = shared_from_this(), id] { self->OnPatienceEnds(id); });
  }

  // Patience counts from the time when the job was first seen to run, because a
  // job that waits for a thread is not stuck.
  void OnPatienceEnds(ClientId id) {
    const auto it = clients_.find(id);
    if (it == clients_.end()) return;
    Client& client = it->second;
    if (!client.seen_running) {
      client.seen_running = !threads_->IsWaiting(client.running);
      return Wait(id, client);
    }
    if (!client.brief) {
      if (!threads_->WriteOff(client.running)) return;  // it is done
      HoldUp(client);
    }
    client.stuck = true;
    for (Task& task : std::exchange(client.jobs, {})) {
      Refuse(std::move(task.finish));
    }
  }

  void OnDone(ClientId id) {
    if (closed_) return;
    const auto it = clients_.find(id);
    Client& client = it->second;
    timers_->Cancel(client.patience);
    LetGo(client);
    if (client.stuck) {
      clients_.erase(it);
      return;
    }
    Finish finish = std::move(client.jobs.front().finish);
    client.jobs.pop_front();
    if (client.jobs.empty()) {
      clients_.erase(it);
    } else {
      Start(id, client);
    }
    finish(Outcome::kDone);
  }

  Timers* timers_;
  std::shared_ptr<Threads> threads_;
  Limits limits_;
  BriefJobs* brief_;
  bool closed_ = false;
  uint64_t last_job_ = 0;
  absl::flat_hash_map<ClientId, Client> clients_;
  OwnerOf owner_of_;
  absl::flat_hash_map<ClientId, OwnerId> owners_;
  int held_up_ = 0;  // clients
  absl::flat_hash_map<OwnerId, int> held_up_of_;
  absl::flat_hash_map<ClientId, LoopTimeBudget>
      budgets_;  // of clients that were slow
  LoopTimeBudget everybody_;
};

WorkerPool::WorkerPool(Timers& timers, Post post, Limits limits,
                       BriefJobs* brief, OwnerOf owner_of)
    : threads_(std::make_shared<Threads>(std::move(post), limits.threads)),
      scheduler_(std::make_shared<Scheduler>(timers, threads_, limits, brief,
                                             std::move(owner_of))),
      at_end_(std::min(limits.patience, limits.at_end)) {}

WorkerPool::~WorkerPool() {
  scheduler_->Close();
  threads_->Close(at_end_);
}

void WorkerPool::Run(ClientId client, Job job, Finish finish) {
  scheduler_->Run(client, false, std::move(job), std::move(finish));
}

void WorkerPool::RunBriefly(ClientId client, Job job, Finish finish) {
  scheduler_->Run(client, true, std::move(job), std::move(finish));
}

Post WorkerPool::ToLoop() const {
  return [threads = threads_](absl::AnyInvocable<void()> task) {
    threads->PostToLoop(std::move(task));
  };
}

}  // namespace ibemu
