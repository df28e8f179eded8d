#include "cuse/fuse/poll_waiters.h"

#include <poll.h>

#include <utility>

namespace ibemu::cuse {
namespace {

bool HasNews(uint32_t events) {
  return (events & (POLLIN | POLLPRI | POLLERR | POLLHUP)) != 0;
}

}  // namespace

PollWaiters::PollWaiters(Timers& timers, File& file)
    : timers_(timers), file_(file) {
  file_.SetListener(this);
}

PollWaiters::~PollWaiters() {
  file_.SetListener(nullptr);
  timers_.Cancel(notice_);
  if (handle_ != nullptr) fuse_pollhandle_destroy(handle_);
}

uint32_t PollWaiters::Ask(fuse_pollhandle* handle) {
  const uint32_t events = file_.Poll();
  if (handle != nullptr) {
    armed_ = true;
    // Each handle names the same open file.
    if (handle_ != nullptr) fuse_pollhandle_destroy(handle_);
    handle_ = handle;
  }
  told_ = HasNews(events);
  timers_.Cancel(std::exchange(notice_, TimerId::kNone));
  return events;
}

void PollWaiters::OnRead() {
  if (notice_ == TimerId::kNone || HasNews(file_.Poll())) return;
  timers_.Cancel(std::exchange(notice_, TimerId::kNone));
}

void PollWaiters::OnEvents() {
  if (!armed_) return;
  if (!told_) return Notify();
  if (notice_ != TimerId::kNone) return;
  notice_ = timers_.RunAfter(kNoticeDelay, [this] {
    notice_ = TimerId::kNone;
    Notify();
  });
}

void PollWaiters::Notify() {
  armed_ = false;
  fuse_lowlevel_notify_poll(handle_);
}

}  // namespace ibemu::cuse
