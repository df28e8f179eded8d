// EpollLoop: the loop for kernels and containers that forbid io_uring.
#ifndef IBEMU_LOOP_EPOLL_LOOP_H_
#define IBEMU_LOOP_EPOLL_LOOP_H_

#include <memory>
#include <optional>
#include <vector>

#include "loop/loop_core.h"

namespace ibemu {

// An EpollLoop is a loop over one epoll descriptor: level triggered, with a
// system call (epoll_ctl) for each change of what is watched.
class EpollLoop : public LoopCore {
 public:
  static absl::StatusOr<std::unique_ptr<Loop>> Create();
  ~EpollLoop() override;

 protected:
  absl::Status Arm(const Interest& interest) override;
  void Rearm(const Interest&) override {}  // epoll is level triggered
  void Disarm(int fd, uint32_t generation, bool reads, bool writes) override;
  void Wait(std::optional<absl::Duration> timeout,
            std::vector<Interest>& ready) override;

 private:
  EpollLoop() = default;

  int epoll_fd_ = -1;
  std::vector<uint32_t> events_;  // the events to wait for, by descriptor
};

}  // namespace ibemu

#endif  // IBEMU_LOOP_EPOLL_LOOP_H_
