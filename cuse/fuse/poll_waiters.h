// Who waits in poll(), select() or epoll_wait() for one open device file.
#ifndef IBEMU_CUSE_FUSE_POLL_WAITERS_H_
#define IBEMU_CUSE_FUSE_POLL_WAITERS_H_

#include <cstdint>

#include "absl/time/time.h"
#include "base/timers.h"
#include "cuse/file.h"
#include "cuse/fuse/libfuse.h"

namespace ibemu::cuse {

// Answers POLL requests and sends one notification for each that asked for
// one; a waiter that is still interested polls again.
class PollWaiters final : public File::Listener {
 public:
  // A client that was told of events reads them and then asks again.  Only an
  // edge-triggered epoll that has read everything waits without asking, so news
  // for it may come this much later; for all others a notification would be a
  // system call in vain.
  static constexpr absl::Duration kNoticeDelay = absl::Microseconds(200);

  // Listens to `file` from now on.  Both outlive this.
  PollWaiters(Timers& timers, File& file);
  ~PollWaiters();
  PollWaiters(const PollWaiters&) = delete;
  PollWaiters& operator=(const PollWaiters&) = delete;

  // The answer to a POLL.  Takes `handle`, which is null if nobody waits.
  uint32_t Ask(fuse_pollhandle* handle);

  // The client has read.
  void OnRead();

  void OnEvents() override;

 private:
  void Notify();

  Timers& timers_;
  File& file_;
  fuse_pollhandle* handle_ = nullptr;  // the kernel's name for the open file
  bool armed_ = false;
  bool told_ = false;  // of events, by the last answer
  TimerId notice_ = TimerId::kNone;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_POLL_WAITERS_H_
