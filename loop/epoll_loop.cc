#include "loop/epoll_loop.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/status_macros.h"

namespace ibemu {
namespace {

// Waits as epoll_wait(2), with a timeout in nanoseconds where the kernel has
// that (Linux 5.11).  Elsewhere the timeout is rounded up to milliseconds,
// since a timer must not fire early.
int WaitFor(int epoll_fd, epoll_event* events, int size,
            std::optional<absl::Duration> timeout) {
  if (!timeout.has_value()) return epoll_wait(epoll_fd, events, size, -1);
  const timespec span = absl::ToTimespec(*timeout);
  const int count = epoll_pwait2(epoll_fd, events, size, &span, nullptr);
  if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return count;
  const absl::Duration longest = absl::Hours(1);
  const absl::Duration whole = absl::Ceil(*timeout, absl::Milliseconds(1));
  return epoll_wait(
      epoll_fd, events, size,
      static_cast<int>(absl::ToInt64Milliseconds(std::min(whole, longest))));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Loop>> EpollLoop::Create() {
  std::unique_ptr<EpollLoop> loop(new EpollLoop);
  loop->epoll_fd_ = epoll_create1(EPOLL_CLOEXEC);
  if (loop->epoll_fd_ < 0) return absl::ErrnoToStatus(errno, "epoll_create1");
  IBEMU_RETURN_IF_ERROR(loop->Init());
  return loop;
}

EpollLoop::~EpollLoop() {
  if (epoll_fd_ >= 0) close(epoll_fd_);
}

absl::Status EpollLoop::Arm(const Interest& interest) {
  const auto slot = static_cast<size_t>(interest.fd);
  if (slot >= events_.size()) events_.resize(slot + 1);
  const uint32_t before = events_[slot];
  const uint32_t added =
      interest.direction == Direction::kRead ? EPOLLIN : EPOLLOUT;
  // The user data has no direction, because both directions share one
  // registration.
  epoll_event event{};
  event.events = before | added;
  event.data.u64 = Interest{interest.fd, interest.generation}.Pack();
  const int operation = before == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (epoll_ctl(epoll_fd_, operation, interest.fd, &event) != 0) {
    return absl::ErrnoToStatus(errno, "epoll_ctl");
  }
  events_[slot] = before | added;
  return absl::OkStatus();
}

void EpollLoop::Disarm(int fd, uint32_t /*generation*/, bool /*reads*/,
                       bool /*writes*/) {
  events_[static_cast<size_t>(fd)] = 0;
  epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);
}

void EpollLoop::Wait(std::optional<absl::Duration> timeout,
                     std::vector<Interest>& ready) {
  std::array<epoll_event, 64> events;
  const int count = WaitFor(epoll_fd_, events.data(), events.size(), timeout);
  for (int i = 0; i < count; ++i) {
    Interest interest = Interest::Unpack(events[i].data.u64);
    constexpr uint32_t kBroken = EPOLLHUP | EPOLLERR;
    if ((events[i].events & (EPOLLIN | kBroken)) != 0) {
      ready.push_back(interest);
    }
    if ((events[i].events & (EPOLLOUT | kBroken)) != 0) {
      interest.direction = Direction::kWrite;
      ready.push_back(interest);
    }
  }
}

}  // namespace ibemu
