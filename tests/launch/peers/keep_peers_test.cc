#include "launch/peers/keep_peers.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "gtest/gtest.h"
#include "launch/peers/peers_process.h"

namespace ibemu::launch {
namespace {

void Say(int fd, std::string_view text) {
  ASSERT_EQ(send(fd, text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}

// The two ends of a line, of which a daemon has the first; and one by which
// children, which are other processes, tell the test what they were told.
class KeepPeersTest : public ::testing::Test {
 protected:
  KeepPeersTest() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    daemon_.Reset(ends[0]);
    line_.Reset(ends[1]);
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    test_.Reset(ends[0]);
    children_.Reset(ends[1]);
  }

  int Keep(PeersBody body) {
    return KeepPeers(line_.get(), absl::ZeroDuration(), body);
  }
  void SayToTest(std::string_view text) const { Say(children_.get(), text); }
  std::string HeardByTest() const { return ReadPeersLine(test_.get()); }
  std::string HeardByDaemon() const { return ReadPeersLine(daemon_.get()); }

  UniqueFd daemon_, line_, test_, children_;
};

TEST_F(KeepPeersTest, WhatDiesIsStartedAgainWhereItWas) {
  EXPECT_EQ(Keep([&](int news, const std::string& before) {
              SayToTest(before + "\n");
              Say(news, "ready 127.0.0.1:7\n");
              if (before.empty()) raise(SIGKILL);
              return 0;
            }),
            0);
  EXPECT_EQ(HeardByTest(), "");
  EXPECT_EQ(HeardByTest(), "127.0.0.1:7");
  // The daemon hears it once.
  line_.Reset();
  EXPECT_EQ(HeardByDaemon(), "ready 127.0.0.1:7");
  EXPECT_EQ(HeardByDaemon(), "");
}

TEST_F(KeepPeersTest, WhatIsNotReadyAtFirstIsNotTriedAgain) {
  EXPECT_EQ(Keep([&](int news, const std::string&) {
              SayToTest("tried\n");
              Say(news, "no certificate");
              return 3;
            }),
            1);
  EXPECT_EQ(HeardByDaemon(), "no certificate");
  children_.Reset();
  EXPECT_EQ(HeardByTest(), "tried");
  EXPECT_EQ(HeardByTest(), "");
}

TEST_F(KeepPeersTest, WhatDiesWithoutAWordAtFirstIsAnEmptyLine) {
  EXPECT_EQ(Keep([](int, const std::string&) {
              raise(SIGKILL);
              return 0;
            }),
            1);
  EXPECT_EQ(HeardByDaemon(), "");
}

TEST_F(KeepPeersTest, WhatFailsLaterIsTriedUntilItIsReadyAgain) {
  EXPECT_EQ(Keep([&](int news, const std::string& before) {
              // A child knows how many there were by what the test would read.
              char tried[4];
              const ssize_t count = recv(test_.get(), tried, sizeof tried,
                                         MSG_PEEK | MSG_DONTWAIT);
              SayToTest("x");
              if (count < 0) {
                Say(news, "ready \n");
                raise(SIGKILL);
              }
              if (count < 3) {
                Say(news, "the certificate is missing");
                return 1;
              }
              Say(news, "ready \n");
              return before.empty() ? 0 : 1;
            }),
            0);
  children_.Reset();
  EXPECT_EQ(HeardByTest(), "xxxx");
}

TEST_F(KeepPeersTest, NobodyIsStartedForADaemonThatHasEnded) {
  EXPECT_EQ(Keep([&](int news, const std::string&) {
              SayToTest("tried\n");
              Say(news, "ready \n");
              // The daemon's end, of which this process has one, too.
              shutdown(daemon_.get(), SHUT_RDWR);
              raise(SIGKILL);
              return 0;
            }),
            0);
  children_.Reset();
  EXPECT_EQ(HeardByTest(), "tried");
  EXPECT_EQ(HeardByTest(), "");
}

TEST_F(KeepPeersTest, AChildDiesWithItsKeeper) {
  const pid_t keeper = fork();
  if (keeper == 0) {
    _exit(Keep([&](int, const std::string&) {
      SayToTest("there\n");
      children_.Reset();
      pause();
      return 0;
    }));
  }
  EXPECT_EQ(HeardByTest(), "there");
  kill(keeper, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(keeper, &status, 0), keeper);
  // The line is closed when nobody has it any more.
  line_.Reset();
  EXPECT_EQ(HeardByDaemon(), "");
}

}  // namespace
}  // namespace ibemu::launch
