// LoopCore: the part that both implementations of Loop share.
#ifndef IBEMU_LOOP_LOOP_CORE_H_
#define IBEMU_LOOP_LOOP_CORE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/timer_queue.h"
#include "base/yield_backoff.h"
#include "loop/busy_wait_policy.h"
#include "loop/loop.h"
#include "loop/thread_handoff.h"

namespace ibemu {

// A LoopCore holds the watchers, timers and posted tasks of a loop, and decides
// in which order they run.  A derived class asks the kernel which descriptors
// are ready.
class LoopCore : public Loop {
 public:
  LoopCore();
  ~LoopCore() override;

  absl::Time Now() const override;
  TimerId RunAt(absl::Time deadline, Task task) override;
  void RunSoon(Task task) override;
  void RunIdle(Task task) override;
  void Cancel(TimerId id) override;

  absl::Status Watch(int fd, absl::AnyInvocable<void()> ready) override;
  absl::Status WatchEagerly(int fd,
                            absl::AnyInvocable<bool()> attempt) override;
  absl::Status WatchWritable(int fd, absl::AnyInvocable<void()> ready) override;
  void Forget(int fd) override;
  void LookAt(PolledSource* source) override { polled_ = source; }
  void Post(absl::AnyInvocable<void()> task) override;
  void RunBriefly(BriefJob job) override;
  void Run() override;
  void Stop() override;

 protected:
  enum class Direction : uint8_t { kRead, kWrite };

  // One wish to hear of one descriptor, as a number that fits the kernel's
  // user data.  `generation` tells a reused descriptor from its predecessor.
  struct Interest {
    int fd = -1;
    uint32_t generation = 0;
    Direction direction = Direction::kRead;

    uint64_t Pack() const {
      return uint64_t{generation} << 32 | static_cast<uint32_t>(fd) << 1 |
             static_cast<uint32_t>(direction);
    }
    static Interest Unpack(uint64_t packed);
  };

  // Makes the internal descriptor that Post() needs.
  absl::Status Init();

  virtual absl::Status Arm(const Interest& interest) = 0;
  // Called after the handler of `interest` has returned, if it is still
  // wanted: for one-shot mechanisms.
  virtual void Rearm(const Interest& interest) = 0;
  // Takes away every interest in `fd`.
  virtual void Disarm(int fd, uint32_t generation, bool reads, bool writes) = 0;
  // Waits until something is ready or `timeout` (nullopt: for ever) is over,
  // and appends what is ready.
  virtual void Wait(std::optional<absl::Duration> timeout,
                    std::vector<Interest>& ready) = 0;
  // Called when another thread than before goes on to call these functions, and
  // when a thread has made its last call.
  virtual void MoveToThisThread() {}
  virtual void LeaveThisThread() {}
  // Returns all interests, whose descriptors are armed.
  std::vector<Interest> Interests() const;

 private:
  // Returns true if the watcher is eager and found something.
  using Handler = absl::AnyInvocable<bool()>;
  struct Watcher;
  // An eager watcher that found something lately.
  struct Eager {
    Interest interest;
    int vain = 0;  // busy waits since then
  };
  // The part that other threads may use even after the loop has ended.
  class Mailbox;

  absl::Status Add(Direction direction, int fd, Handler handler);
  Watcher* Find(const Interest& interest);
  // Calls the handler and returns its result; false if there is none any more.
  bool Call(const Interest& interest);
  // These are false when this thread no longer runs the loop: nothing of it may
  // be touched then.
  bool Carry();
  bool Dispatch(const Interest& interest);
  bool WaitBusily();
  void Sleep(std::vector<Interest>& ready);
  // Returns true if the polled source had something.
  bool Look();
  void OnFound(const Interest& interest);
  bool RunBriefJobs();
  bool RunIdleTasks();

  TimerQueue timers_;
  std::vector<Task> idle_;
  int rounds_ = 0;  // that idle_ has waited
  BusyWaitPolicy busy_wait_;
  YieldBackoff yields_;
  std::vector<Eager> eager_;
  PolledSource* polled_ = nullptr;
  bool found_ = false;  // by who is eager or polled, since the last busy wait
  bool broken_off_ = false;  // the last busy wait was, and goes on
  // When what was found last had returned, and if a Look() had found it.
  absl::Time answered_ = absl::InfinitePast();
  absl::Time found_by_look_ = absl::InfinitePast();
  bool stopped_ = false;
  uint32_t generation_ = 0;
  std::vector<std::unique_ptr<Watcher>> watchers_;   // by descriptor
  std::vector<std::unique_ptr<Watcher>> forgotten_;  // may still be running

  std::shared_ptr<Mailbox> mailbox_;

  std::unique_ptr<ThreadHandoff> handoff_;  // while it runs
  std::deque<BriefJob> brief_jobs_;
  absl::AnyInvocable<void()> late_;  // of the job that runs; or null
};

}  // namespace ibemu

#endif  // IBEMU_LOOP_LOOP_CORE_H_
