// The loop for kernels and containers that forbid io_uring.
#ifndef IBEMU_DAEMON_EPOLL_LOOP_H_
#define IBEMU_DAEMON_EPOLL_LOOP_H_

#include <memory>
#include <optional>
#include <vector>

#include "daemon/loop_core.h"

namespace ibemu::daemon {

class EpollLoop : public LoopCore {
 public:
  static absl::StatusOr<std::unique_ptr<Loop>> Create();
  ~EpollLoop() override;

 protected:
  absl::Status Arm(const Interest& interest) override;
  void Rearm(const Interest&) override {}  // level triggered by itself
  void Disarm(int fd, uint32_t generation, bool reads, bool writes) override;
  void Wait(std::optional<absl::Duration> timeout,
            std::vector<Interest>& ready) override;

 private:
  EpollLoop() = default;

  int epoll_fd_ = -1;
  std::vector<uint32_t> events_;  // wanted, by descriptor
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_EPOLL_LOOP_H_
