// A client process that is blocked in write().
#ifndef IBEMU_TESTS_CUSE_BLOCKED_WRITER_H_
#define IBEMU_TESTS_CUSE_BLOCKED_WRITER_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <vector>

#include "base/unique_fd.h"
#include "cuse/client/caller_memory.h"

namespace ibemu::cuse {

// It writes `size` bytes to a pipe that is full.  Its exit status tells how
// that ended: 0 when all was written and nothing about the process is
// different; else the errno.
class BlockedWriter {
 public:
  // Exit statuses.
  static constexpr int kChanged = 200;  // it has other descriptors or signals
  static constexpr int kHandled = 201;  // all is well, and `handled` is set
  static inline volatile sig_atomic_t handled = 0;

  // `prepare` runs in the child, first.
  explicit BlockedWriter(
      const std::function<void()>& prepare = [] {}, size_t size = 16) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    EXPECT_EQ(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    const std::vector<std::byte> page(kPage);
    while (write(ends[1], page.data(), page.size()) > 0) {
    }
    EXPECT_EQ(fcntl(ends[1], F_SETFL, 0), 0);
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      close(ends[0]);
      prepare();
      _exit(Run(ends[1], size));
    }
    from_.Reset(ends[0]);
    close(ends[1]);
    while (!SizeOfWrite(pid_).ok()) sched_yield();
  }
  ~BlockedWriter() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  BlockedWriter(const BlockedWriter&) = delete;
  BlockedWriter& operator=(const BlockedWriter&) = delete;

  // For the child.
  static void LeaveNoDescriptor() {
    const UniqueFd next(open("/", O_PATH | O_CLOEXEC));
    const auto used = static_cast<rlim_t>(next.get());
    const rlimit limit{used, used};
    setrlimit(RLIMIT_NOFILE, &limit);
  }

  pid_t pid() const { return pid_; }

  // Reads all that it wrote: its exit status.
  int Finish() {
    std::vector<std::byte> page(kPage);
    while (read(from_.get(), page.data(), page.size()) > 0) {
    }
    int status = -1;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  static constexpr size_t kPage = 4096;
  struct State {
    int files = 0;
    bool blocked = false;

    bool operator==(const State&) const = default;
  };

  static State StateNow() {
    State state;
    constexpr int kMany = 256;
    for (int fd = 0; fd < kMany; ++fd) {
      if (fcntl(fd, F_GETFD) >= 0) ++state.files;
    }
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, nullptr, &blocked);
    state.blocked = sigismember(&blocked, SIGUSR1) == 1;
    return state;
  }

  static int Run(int pipe, size_t size) {
    const std::vector<std::byte> text(size);
    const State before = StateNow();
    const ssize_t written = write(pipe, text.data(), text.size());
    const int error = errno;
    if (StateNow() != before) return kChanged;
    if (written != static_cast<ssize_t>(text.size())) return error;
    return handled != 0 ? kHandled : 0;
  }

  pid_t pid_ = 0;
  UniqueFd from_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_TESTS_CUSE_BLOCKED_WRITER_H_
