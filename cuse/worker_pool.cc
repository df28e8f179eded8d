#include "cuse/worker_pool.h"

#include <deque>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "cuse/worker_threads.h"

namespace ibemu::cuse {

// Which client has which job where.  Loop thread only.
class WorkerPool::Ledger
    : public std::enable_shared_from_this<WorkerPool::Ledger> {
 public:
  Ledger(Timers& timers, std::shared_ptr<Threads> threads, Limits limits)
      : timers_(&timers), threads_(std::move(threads)), limits_(limits) {}

  void Run(ClientId id, Job job, Finish finish) {
    const auto known = clients_.find(id);
    const bool stuck = known != clients_.end() && known->second.stuck;
    if (stuck || threads_->written_off() >= limits_.stuck_threads) {
      return Refuse(std::move(finish));
    }
    Client& client = clients_[id];
    client.jobs.push_back({std::move(job), std::move(finish)});
    if (client.jobs.size() == 1) Start(id);
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
  };
  struct Client {
    std::deque<Task> jobs;  // the first one runs
    uint64_t running = 0;
    bool seen_running = false;
    bool stuck = false;
    TimerId patience = TimerId::kNone;
  };

  void Refuse(Finish finish) {
    timers_->RunSoon(
        [self = shared_from_this(), finish = std::move(finish)]() mutable {
          if (!self->closed_) finish(Outcome::kStuck);
        });
  }

  void Start(ClientId id) {
    Client& client = clients_[id];
    client.running = ++last_job_;
    client.seen_running = false;
    Wait(id, client);
    threads_->Enqueue(client.running, std::move(client.jobs.front().job),
                      [self = shared_from_this(), id] { self->OnDone(id); });
  }

  void Wait(ClientId id, Client& client) {
    client.patience = timers_->RunAfter(
        limits_.patience,
        [self = shared_from_this(), id] { self->OnPatienceEnds(id); });
  }

  // Patience counts from when the job was first seen to run: a job that waits
  // for a thread is not stuck.
  void OnPatienceEnds(ClientId id) {
    const auto it = clients_.find(id);
    if (it == clients_.end()) return;
    Client& client = it->second;
    if (!client.seen_running) {
      client.seen_running = !threads_->IsWaiting(client.running);
      return Wait(id, client);
    }
    if (!threads_->WriteOff(client.running)) return;  // OnDone is on its way
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
    if (client.stuck) {
      clients_.erase(it);
      return;
    }
    Finish finish = std::move(client.jobs.front().finish);
    client.jobs.pop_front();
    if (client.jobs.empty()) {
      clients_.erase(it);
    } else {
      Start(id);
    }
    finish(Outcome::kDone);
  }

  Timers* timers_;
  std::shared_ptr<Threads> threads_;
  Limits limits_;
  bool closed_ = false;
  uint64_t last_job_ = 0;
  absl::flat_hash_map<ClientId, Client> clients_;
};

WorkerPool::WorkerPool(Timers& timers, Post post, Limits limits)
    : threads_(std::make_shared<Threads>(std::move(post), limits.threads)),
      ledger_(std::make_shared<Ledger>(timers, threads_, limits)),
      patience_(limits.patience) {}

WorkerPool::~WorkerPool() {
  ledger_->Close();
  threads_->Close(patience_);
}

void WorkerPool::Run(ClientId client, Job job, Finish finish) {
  ledger_->Run(client, std::move(job), std::move(finish));
}

Post WorkerPool::ToLoop() const {
  return [threads = threads_](absl::AnyInvocable<void()> task) {
    threads->PostToLoop(std::move(task));
  };
}

}  // namespace ibemu::cuse
