// An owned file descriptor.
#ifndef IBEMU_BASE_UNIQUE_FD_H_
#define IBEMU_BASE_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace ibemu {

// A UniqueFd owns a file descriptor and closes it when it is destroyed.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    Reset(other.Release());
    return *this;
  }
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

  // Gives the descriptor up: the caller must close it.
  int Release() { return std::exchange(fd_, -1); }

  void Reset(int fd = -1) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace ibemu

#endif  // IBEMU_BASE_UNIQUE_FD_H_
