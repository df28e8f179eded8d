#include "control/peer.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/unique_fd.h"
#include "gtest/gtest.h"
#include "testing/socket_pair.h"

namespace ibemu::control {
namespace {

using absl::StatusCode;

// A child process that lives until the end of the test; -1 when it could not
// make itself ready.
class Child {
 public:
  explicit Child(int (*prepare)()) {
    std::array<int, 2> up;
    std::array<int, 2> down;
    EXPECT_EQ(pipe2(up.data(), O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(down.data(), O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(up[0]);
      close(down[1]);
      const int pid = prepare();
      [[maybe_unused]] ssize_t size = write(up[1], &pid, sizeof pid);
      char c;
      size = read(down[0], &c, 1);
      _exit(0);
    }
    close(up[1]);
    close(down[0]);
    leash_.Reset(down[1]);
    const UniqueFd ready(up[0]);
    EXPECT_EQ(read(ready.get(), &subject_, sizeof subject_),
              static_cast<ssize_t>(sizeof subject_));
  }
  ~Child() {
    leash_.Reset();
    waitpid(pid_, nullptr, 0);
  }
  int pid() const { return subject_ == 0 ? pid_ : subject_; }

 private:
  UniqueFd leash_;
  int pid_ = -1;
  int subject_ = -1;
};

TEST(CheckPeerTest, OurOwnUserMayTalkToUs) {
  const auto [near, far] = testing::SocketPair();
  const auto peer = CheckPeer(near.get());
  ASSERT_TRUE(peer.ok());
  EXPECT_EQ(*peer, getpid());
}

TEST(CheckPeerTest, AnotherUserMayNot) {
  const auto [near, far] = testing::SocketPair();
  const uid_t before = geteuid();
  if (before != 0) GTEST_SKIP() << "changing the user needs root";
  // The socket was made by root; whoever asks is user 12345.
  ASSERT_EQ(seteuid(12345), 0);
  const absl::Status refused = CheckPeer(near.get()).status();
  ASSERT_EQ(seteuid(before), 0);
  EXPECT_EQ(refused.code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(refused.message(),
            "this is the daemon of user 12345, not of user 0: start one of "
            "your own");
}

TEST(CheckPidNamespaceTest, ChildrenShareOurs) {
  const Child child([] { return 0; });
  EXPECT_TRUE(CheckPidNamespace(child.pid()).ok());
}

TEST(CheckPidNamespaceTest, AnotherNamespaceIsRefused) {
  // The child of a process that unshared is the first in the new namespace.
  const Child child([] {
    if (unshare(geteuid() == 0 ? CLONE_NEWPID : CLONE_NEWUSER | CLONE_NEWPID) !=
        0) {
      return -1;
    }
    const int inner = fork();
    if (inner == 0) {
      pause();
      _exit(0);
    }
    return inner;
  });
  if (child.pid() < 0) GTEST_SKIP() << "PID namespaces are forbidden here";
  EXPECT_EQ(CheckPidNamespace(child.pid()).code(),
            StatusCode::kPermissionDenied);
  kill(child.pid(), SIGKILL);
}

TEST(CheckPidNamespaceTest, AProcessThatCannotBeSeenIsRefused) {
  EXPECT_EQ(CheckPidNamespace(0).code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(CheckPidNamespace(-1).code(), StatusCode::kPermissionDenied);
}

TEST(CheckFuseDescriptorTest, OnlyTheFuseDeviceIsTaken) {
  const auto [near, far] = testing::SocketPair();
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  const UniqueFd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  for (const int fd : {-1, near.get(), null.get(), file.get()}) {
    EXPECT_EQ(CheckFuseDescriptor(fd).code(), StatusCode::kInvalidArgument);
  }
  const UniqueFd fuse(open("/dev/fuse", O_RDWR | O_CLOEXEC));
  if (!fuse.valid()) GTEST_SKIP() << "no /dev/fuse here";
  EXPECT_TRUE(CheckFuseDescriptor(fuse.get()).ok());
}

}  // namespace
}  // namespace ibemu::control
