#include "launch/supervisor/seccomp.h"

#include <linux/netlink.h>
#include <sys/prctl.h>
#include <sys/select.h>
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
    if (!FilterSystemCalls({.first = 896, .count = 128}).ok()) _exit(255);
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

TEST(NodeFdsTest, AreTheHighestThatSelectKnows) {
  constexpr NodeFds kBelow1024 = {.first = 512, .count = 512};
  EXPECT_EQ(NodeFdsFor(1024), kBelow1024);
  EXPECT_EQ(NodeFdsFor(1025), kBelow1024);
  EXPECT_EQ(NodeFdsFor(20'000), kBelow1024);
  EXPECT_EQ(NodeFdsFor(1 << 20), kBelow1024);
  EXPECT_EQ(NodeFdsFor(~0ul), kBelow1024);
}

TEST(NodeFdsTest, AreHalfOfALowLimit) {
  EXPECT_EQ(NodeFdsFor(1023), (NodeFds{.first = 512, .count = 256}));
  EXPECT_EQ(NodeFdsFor(256), (NodeFds{.first = 128, .count = 128}));
  EXPECT_EQ(NodeFdsFor(200), (NodeFds{.first = 128, .count = 64}));
  EXPECT_EQ(NodeFdsFor(20), (NodeFds{.first = 8, .count = 8}));
}

TEST(NodeFdsTest, FitWhateverTheLimitIs) {
  for (unsigned long limit = 1; limit < 3000; ++limit) {
    const NodeFds fds = NodeFdsFor(limit);
    ASSERT_GE(fds.count, 1);
    ASSERT_EQ(fds.first % fds.count, 0) << limit;
    ASSERT_LE(static_cast<unsigned long>(fds.end()), limit);
    ASSERT_LE(fds.end(), FD_SETSIZE);
  }
  EXPECT_EQ(NodeFdsFor(0), NodeFdsFor(1)) << "which leaves none to anybody";
}

}  // namespace
}  // namespace ibemu::launch
