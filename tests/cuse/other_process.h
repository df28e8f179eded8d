// A process that changes something about itself when it is told to.
#ifndef IBEMU_TESTS_CUSE_OTHER_PROCESS_H_
#define IBEMU_TESTS_CUSE_OTHER_PROCESS_H_

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "base/unique_fd.h"

namespace ibemu::cuse {

// A forked child of the test, which waits until it ends.
class OtherProcess {
 public:
  explicit OtherProcess(const std::function<void()>& change = [] {}) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      close(ends[0]);
      char byte = 0;
      if (write(ends[1], &byte, 1) != 1) _exit(1);
      if (read(ends[1], &byte, 1) == 1) change();
      if (write(ends[1], &byte, 1) != 1) _exit(1);
      if (read(ends[1], &byte, 1) == 1)
        execl("/bin/sleep", "sleep", "1h", nullptr);
      _exit(0);
    }
    close(ends[1]);
    control_.Reset(ends[0]);
    // Its libc has prepared it by then, as far as it does after a fork().
    char byte = 0;
    EXPECT_EQ(read(ends[0], &byte, 1), 1);
  }
  ~OtherProcess() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  pid_t pid() const { return pid_; }

  // Lets it change.
  void Begin() {
    const char byte = 0;
    EXPECT_EQ(write(control_.get(), &byte, 1), 1);
  }

  // Lets it change, and waits until it has.
  void Change() {
    char byte = 0;
    Begin();
    EXPECT_EQ(read(control_.get(), &byte, 1), 1);
  }

  // Lets it start another program, after it has changed, and waits until it
  // has.
  void StartProgram() {
    char byte = 0;
    EXPECT_EQ(write(control_.get(), &byte, 1), 1);
    EXPECT_EQ(read(control_.get(), &byte, 1), 0);
  }

  // What whoever runs the test may do to have other rights: to give up a group
  // as root, to keep others out of its memory as anybody else.
  static void GiveUpRights() {
    constexpr gid_t kOther = 65534;
    if (geteuid() == 0) {
      if (setresgid(kOther, kOther, kOther) != 0) _exit(1);
    } else {
      prctl(PR_SET_DUMPABLE, 0);
    }
  }

 private:
  pid_t pid_ = 0;
  UniqueFd control_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_TESTS_CUSE_OTHER_PROCESS_H_
