#include "loop/uring_loop.h"

#include <liburing.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/status_macros.h"

namespace ibemu {
namespace {

constexpr unsigned kEntries = 256;

// User data of requests whose completion says nothing.
constexpr uint64_t kNobody = ~uint64_t{0};

// Cheapest mode that the kernel knows: completions are then made inside of
// io_uring_enter() and interrupt nothing (Linux 6.1, 5.19, 5.11).
int Setup(io_uring& ring) {
  int result = -EINVAL;
  for (const unsigned flags :
       {IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
        IORING_SETUP_COOP_TASKRUN, 0u}) {
    result = io_uring_queue_init(kEntries, &ring, flags);
    if (result != -EINVAL) break;
  }
  return result;
}

}  // namespace

UringLoop::UringLoop(std::unique_ptr<io_uring> ring)
    : ring_(std::move(ring)), owner_(gettid()) {}

absl::StatusOr<std::unique_ptr<Loop>> UringLoop::Create() {
  auto ring = std::make_unique<io_uring>();
  const int result = Setup(*ring);
  if (result < 0) return absl::ErrnoToStatus(-result, "io_uring_setup");
  std::unique_ptr<UringLoop> loop(new UringLoop(std::move(ring)));
  if ((loop->ring_->features & IORING_FEAT_EXT_ARG) == 0) {
    return absl::UnimplementedError("io_uring without timeouts (Linux < 5.11)");
  }
  IBEMU_RETURN_IF_ERROR(loop->Init());
  return loop;
}

UringLoop::~UringLoop() {
  if (owner_ != 0) io_uring_queue_exit(ring_.get());
}

// A ring belongs to one thread, and so do the polls that it has submitted: a
// new one takes their place.  While the old one is there nobody else can have
// its descriptor, so there is one for the new ring or soon after.
void UringLoop::MoveToThisThread() {
  if (owner_ == gettid()) return;
  auto ring = std::make_unique<io_uring>();
  const bool made = Setup(*ring) >= 0;
  if (owner_ != 0) io_uring_queue_exit(ring_.get());
  // Forbidden or out of memory since it began: a loop that hears nothing would
  // be worse than none.
  if (!made && Setup(*ring) < 0) std::abort();
  ring_ = std::move(ring);
  owner_ = gettid();
  for (const Interest& interest : Interests()) Rearm(interest);
}

// A ring that ends with polls in it lets go of their files some time later.
void UringLoop::LeaveThisThread() {
  for (const Interest& interest : Interests()) Remove(interest);
  io_uring_submit_and_get_events(ring_.get());
  io_uring_queue_exit(ring_.get());
  owner_ = 0;
}

io_uring_sqe& UringLoop::NextSqe() {
  io_uring_sqe* sqe = io_uring_get_sqe(ring_.get());
  while (sqe == nullptr) {  // full: make room
    io_uring_submit(ring_.get());
    sqe = io_uring_get_sqe(ring_.get());
  }
  return *sqe;
}

absl::Status UringLoop::Arm(const Interest& interest) {
  Rearm(interest);
  return absl::OkStatus();
}

void UringLoop::Rearm(const Interest& interest) {
  io_uring_sqe& sqe = NextSqe();
  io_uring_prep_poll_add(
      &sqe, interest.fd,
      interest.direction == Direction::kRead ? POLLIN : POLLOUT);
  io_uring_sqe_set_data64(&sqe, interest.Pack());
}

void UringLoop::Remove(const Interest& interest) {
  io_uring_sqe& sqe = NextSqe();
  io_uring_prep_poll_remove(&sqe, interest.Pack());
  io_uring_sqe_set_data64(&sqe, kNobody);
}

void UringLoop::Disarm(int fd, uint32_t generation, bool reads, bool writes) {
  if (reads) Remove({fd, generation, Direction::kRead});
  if (writes) Remove({fd, generation, Direction::kWrite});
  // At once: the kernel must not look the number up when it means another file,
  // and it must drop its reference, or the peer never learns of a close().
  io_uring_submit_and_get_events(ring_.get());
}

void UringLoop::Wait(std::optional<absl::Duration> timeout,
                     std::vector<Interest>& ready) {
  io_uring_cqe* first = nullptr;
  __kernel_timespec span{};
  if (timeout.has_value()) {
    const timespec whole = absl::ToTimespec(*timeout);
    span = {.tv_sec = whole.tv_sec, .tv_nsec = whole.tv_nsec};
  }
  if (timeout == absl::ZeroDuration()) {
    // To wait for no time is to sleep and be woken: 40 us instead of 1.
    io_uring_submit_and_get_events(ring_.get());
  } else {
    io_uring_submit_and_wait_timeout(
        ring_.get(), &first, 1, timeout.has_value() ? &span : nullptr, nullptr);
  }
  unsigned head;
  unsigned count = 0;
  io_uring_cqe* cqe;
  io_uring_for_each_cqe(ring_.get(), head, cqe) {
    ++count;
    // An error of the poll itself counts as ready: the handler's own system
    // call will meet it.
    if (cqe->user_data == kNobody || cqe->res == -ECANCELED) continue;
    ready.push_back(Interest::Unpack(cqe->user_data));
  }
  io_uring_cq_advance(ring_.get(), count);
}

}  // namespace ibemu
