#include "launch/seccomp.h"

#include <linux/netlink.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "gtest/gtest.h"

namespace ibemu::launch {
namespace {

// The errno of socket() in a filtered process; 0 when it succeeds.
int ErrnoOfSocket(int domain, int type, int protocol) {
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);  // tests may run as a plain user
    if (!FilterSystemCalls(896).ok()) _exit(255);
    _exit(socket(domain, type, protocol) < 0 ? errno : 0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(FilterTest, RefusesTheSocketThatLibibverbsOpens) {
  EXPECT_EQ(ErrnoOfSocket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA), EPROTONOSUPPORT);
}

TEST(FilterTest, RefusesEveryTypeOfIt) {
  EXPECT_EQ(ErrnoOfSocket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_RDMA),
            EPROTONOSUPPORT);
}

TEST(FilterTest, LeavesOtherNetlinkFamilies) {
  EXPECT_EQ(ErrnoOfSocket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), 0);
}

TEST(FilterTest, LeavesOtherDomainsWithTheSameNumber) {
  EXPECT_EQ(ErrnoOfSocket(AF_UNIX, SOCK_STREAM, 0), 0);
  EXPECT_NE(ErrnoOfSocket(AF_UNIX, SOCK_STREAM, NETLINK_RDMA), 255);
}

// A multiple of the window, within the limit where there is room.
TEST(FirstNodeFdTest, IsTheLastWindowThatFits) {
  EXPECT_EQ(FirstNodeFd(1024), 896);
  EXPECT_EQ(FirstNodeFd(1025), 1024);
  EXPECT_EQ(FirstNodeFd(200), 128);
  EXPECT_EQ(FirstNodeFd(128), 0);
  EXPECT_EQ(FirstNodeFd(1), 0);
  EXPECT_EQ(FirstNodeFd(0), 0);
  EXPECT_EQ(FirstNodeFd(1 << 20), 65408);
  EXPECT_EQ(FirstNodeFd(~0ul), 65408);
}

}  // namespace
}  // namespace ibemu::launch
