// A loop whose time is virtual: descriptors are looked at when a test says so.
#ifndef IBEMU_TESTS_DAEMON_VIRTUAL_LOOP_H_
#define IBEMU_TESTS_DAEMON_VIRTUAL_LOOP_H_

#include <poll.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "loop/loop.h"
#include "testing/virtual_timers.h"

namespace ibemu::daemon {

class VirtualLoop : public Loop {
 public:
  explicit VirtualLoop(testing::VirtualTimers& timers) : timers_(timers) {}

  absl::Time Now() const override { return timers_.Now(); }
  TimerId RunAt(absl::Time deadline, Task task) override {
    return timers_.RunAt(deadline, std::move(task));
  }
  void RunSoon(Task task) override { timers_.RunSoon(std::move(task)); }
  void RunIdle(Task task) override { timers_.RunIdle(std::move(task)); }
  void Cancel(TimerId id) override { timers_.Cancel(id); }

  absl::Status Watch(int fd, absl::AnyInvocable<void()> ready) override {
    return Add(fd, POLLIN, std::move(ready));
  }
  absl::Status WatchEagerly(int fd,
                            absl::AnyInvocable<bool()> attempt) override {
    return Add(fd, POLLIN,
               [attempt = std::move(attempt)]() mutable { attempt(); });
  }
  absl::Status WatchWritable(int fd,
                             absl::AnyInvocable<void()> ready) override {
    return Add(fd, POLLOUT, std::move(ready));
  }
  void Forget(int fd) override { watchers_.erase(fd); }
  void LookAt(PolledSource* /*source*/) override {}  // clients have no rings

  void Post(absl::AnyInvocable<void()> task) override {
    RunSoon(std::move(task));
  }
  void RunBriefly(BriefJob job) override {
    RunSoon([job = std::move(job)]() mutable {
      job.run();
      job.done(absl::ZeroDuration());
    });
  }
  void Run() override {}
  void Stop() override {}

  // Runs what is due, and the handlers of descriptors that are ready, once.
  void Poll() {
    timers_.RunPending();
    std::vector<std::pair<int, std::shared_ptr<Watcher>>> now(watchers_.begin(),
                                                              watchers_.end());
    for (const auto& [fd, watcher] : now) {
      pollfd wanted = {fd, watcher->events, 0};
      const auto found = watchers_.find(fd);
      if (found == watchers_.end() || found->second != watcher) continue;
      if (poll(&wanted, 1, 0) == 1) watcher->ready();
    }
    timers_.RunPending();
  }

 private:
  struct Watcher {
    short events;
    absl::AnyInvocable<void()> ready;
  };

  absl::Status Add(int fd, short events, absl::AnyInvocable<void()> ready) {
    watchers_[fd] = std::make_shared<Watcher>(
        Watcher{.events = events, .ready = std::move(ready)});
    return absl::OkStatus();
  }

  testing::VirtualTimers& timers_;
  std::map<int, std::shared_ptr<Watcher>> watchers_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_TESTS_DAEMON_VIRTUAL_LOOP_H_
