#include "daemon/run_daemon.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <string>

#include "base/unique_fd.h"
#include "control/client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "testing/socket_pair.h"
#include "testing/temp_directory.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;

// A private daemon in a process of its own, as `ibemu run` starts one.
class PrivateDaemonTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.socket = directory_ + "/lab.sock";
    options_.seed = 7;
  }
  void TearDown() override {
    connection_.Reset();
    if (pid_ > 0) Wait();
  }

  void Start() {
    std::array<int, 2> ends;
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()),
              0);
    pid_ = fork();
    if (pid_ == 0) {
      close(ends[0]);
      _exit(RunPrivateDaemon(options_, ends[1]));
    }
    close(ends[1]);
    connection_.Reset(ends[0]);
  }

  absl::StatusOr<control::Client> Adopt() {
    return control::Client::Adopt(connection_.Release());
  }

  // The daemon's exit status; -1 if a signal killed it.
  int Wait() {
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  DaemonOptions options_;
  const testing::TempDirectory temporary_;
  const std::string directory_ = temporary_.path();
  pid_t pid_ = -1;
  UniqueFd connection_;
};

TEST_F(PrivateDaemonTest, TheGreetingSaysWhoItIs) {
  Start();
  const auto client = Adopt();
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_EQ(client->greeting().socket, options_.socket);
  EXPECT_EQ(client->greeting().seed, 7u);
  EXPECT_EQ(client->greeting().pid, pid_);
  EXPECT_THAT(client->greeting().capabilities, Contains("attach"));
}

TEST_F(PrivateDaemonTest, NestedRunsFindItThroughItsSocket) {
  Start();
  const auto outer = Adopt();
  ASSERT_TRUE(outer.ok()) << outer.status();
  auto inner = control::Client::Connect(outer->greeting().socket);
  ASSERT_TRUE(inner.ok()) << inner.status();
  const auto status = inner->Call("status", json::object());
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ((*status)["fabric"]["cas"], 2);
  EXPECT_EQ((*status)["fabric"]["links_up"], 1);
}

TEST_F(PrivateDaemonTest, ItEndsWithItsLauncherAndLeavesNothing) {
  Start();
  { ASSERT_TRUE(Adopt().ok()); }
  EXPECT_EQ(Wait(), 0);
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(PrivateDaemonTest, SigtermEndsItCleanly) {
  Start();
  auto client = Adopt();
  ASSERT_TRUE(client.ok()) << client.status();
  kill(pid_, SIGTERM);
  EXPECT_EQ(Wait(), 0);
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
  EXPECT_EQ(client->Call("ping", json::object()).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(PrivateDaemonTest, ControlCIsNotForIt) {
  Start();
  auto client = Adopt();
  ASSERT_TRUE(client.ok()) << client.status();
  kill(pid_, SIGINT);
  kill(pid_, SIGQUIT);
  EXPECT_TRUE(client->Call("ping", json::object()).ok());
}

TEST_F(PrivateDaemonTest, FaultsOfTheOptionsReachTheLauncher) {
  options_.topology = "fat-tee:radix=8";
  Start();
  EXPECT_THAT(std::string(Adopt().status().message()),
              HasSubstr("did you mean \"fat-tree\"?"));
  EXPECT_EQ(Wait(), 1);
  options_.topology = "back-to-back";
  options_.sm = "bultin";
  Start();
  EXPECT_THAT(std::string(Adopt().status().message()),
              HasSubstr("did you mean \"builtin\"?"));
  EXPECT_EQ(Wait(), 1);
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

// A socketpair in the place of /dev/fuse could forge callers.
TEST_F(PrivateDaemonTest, AttachingTakesNothingButTheFuseDevice) {
  Start();
  auto client = Adopt();
  ASSERT_TRUE(client.ok()) << client.status();
  const auto [forged, other] = testing::SocketPair(SOCK_SEQPACKET);
  EXPECT_EQ(client->Attach(forged.get(), {}).status().message(),
            "the descriptor that came with the request is no /dev/fuse");
  EXPECT_EQ(client->Call("attach", json::object()).status().message(),
            "no /dev/fuse came with the request");
}

}  // namespace
}  // namespace ibemu::daemon
