// UringLoop: the loop on io_uring, where arming, waiting and the timeout are
// one system call.
#ifndef IBEMU_LOOP_URING_LOOP_H_
#define IBEMU_LOOP_URING_LOOP_H_

#include <memory>
#include <optional>
#include <vector>

#include "loop/loop_core.h"

struct io_uring;
struct io_uring_sqe;

namespace ibemu {

// A UringLoop is a loop whose polls are one-shot and armed again after the
// handler, in the same io_uring_enter() that waits: so they are level triggered
// at no extra call.  (Multishot polls report edges only.)
class UringLoop : public LoopCore {
 public:
  // Errors: what io_uring_setup() says, PermissionDenied in many containers.
  static absl::StatusOr<std::unique_ptr<Loop>> Create();
  ~UringLoop() override;

 protected:
  absl::Status Arm(const Interest& interest) override;
  void Rearm(const Interest& interest) override;
  void Disarm(int fd, uint32_t generation, bool reads, bool writes) override;
  void Wait(std::optional<absl::Duration> timeout,
            std::vector<Interest>& ready) override;
  void MoveToThisThread() override;
  void LeaveThisThread() override;

 private:
  explicit UringLoop(std::unique_ptr<io_uring> ring);

  io_uring_sqe& NextSqe();
  void Remove(const Interest& interest);

  std::unique_ptr<io_uring> ring_;
  pid_t owner_;  // the thread that may use the ring; 0: there is none
};

}  // namespace ibemu

#endif  // IBEMU_LOOP_URING_LOOP_H_
