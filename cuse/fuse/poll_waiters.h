// PollWaiters: the clients that wait in poll(), select() or epoll_wait() for
// one open device file.
#ifndef IBEMU_CUSE_FUSE_POLL_WAITERS_H_
#define IBEMU_CUSE_FUSE_POLL_WAITERS_H_

#include <cstdint>

#include "absl/time/time.h"
#include "base/timers.h"
#include "cuse/file.h"
#include "cuse/fuse/libfuse.h"

namespace ibemu::cuse {

// The waiters of one file.  It answers POLL requests, and sends one
// notification for each that asked for one.  A waiter that is still interested
// polls again.
class PollWaiters final : public File::Listener {
 public:
  // The delay of a notification to a client that was told of events and has not
  // asked again.  Normally such a client reads the events and then asks.  Only
  // an edge-triggered epoll that has read everything waits without asking, so
  // it may learn of new events this much later.  For all others the
  // notification would be a useless system call.
  static constexpr absl::Duration kNoticeDelay = absl::Microseconds(200);

  // Listens to `file` from now on.  REQUIRES: both outlive this object.
  PollWaiters(Timers& timers, File& file);
  ~PollWaiters();
  PollWaiters(const PollWaiters&) = delete;
  PollWaiters& operator=(const PollWaiters&) = delete;

  // Returns the answer to a POLL.  Takes ownership of `handle`, which is null
  // if no client waits.
  uint32_t Ask(fuse_pollhandle* handle);

  // Called when the client has read.
  void OnRead();

  void OnEvents() override;

 private:
  void Notify();

  Timers& timers_;
  File& file_;
  fuse_pollhandle* handle_ = nullptr;  // the kernel's name for the open file
  bool armed_ = false;
  bool told_ = false;  // the last answer reported events
  TimerId notice_ = TimerId::kNone;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_POLL_WAITERS_H_
