#include "daemon/run_daemon.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
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

// Names of the environment, by which this program becomes a private daemon: of
// its descriptor, and of its options.
constexpr char kEnd[] = "IBEMU_TEST_PRIVATE_END";
constexpr char kSocket[] = "IBEMU_TEST_SOCKET";
constexpr char kTopology[] = "IBEMU_TEST_TOPOLOGY";
constexpr char kSm[] = "IBEMU_TEST_SM";

// Executed, not forked: a fork of a process with threads may find a lock of the
// allocator's that nobody opens any more.
class BecomesPrivateDaemon : public ::testing::Environment {
 public:
  void SetUp() override {
    const char* const end = std::getenv(kEnd);
    if (end == nullptr) return;
    DaemonOptions options;
    options.seed = 7;
    options.socket = std::getenv(kSocket);
    options.topology = std::getenv(kTopology);
    options.sm = std::getenv(kSm);
    _exit(RunPrivateDaemon(options, std::stoi(end)));
  }
};

// GoogleTest owns it.
const ::testing::Environment* const kBecomesPrivateDaemon =
    ::testing::AddGlobalTestEnvironment(new BecomesPrivateDaemon);

// A private daemon in a process of its own, as `ibemu run` starts one.
class PrivateDaemonTest : public ::testing::Test {
 protected:
  void SetUp() override { options_.socket = directory_ + "/lab.sock"; }
  void TearDown() override {
    connection_.Reset();
    if (pid_ > 0) Wait();
  }

  void Start() {
    std::array<int, 2> ends;
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()),
              0);
    setenv(kEnd, std::to_string(ends[1]).c_str(), 1);
    setenv(kSocket, options_.socket.c_str(), 1);
    setenv(kTopology, options_.topology.c_str(), 1);
    setenv(kSm, options_.sm.c_str(), 1);
    pid_ = fork();
    if (pid_ == 0) {
      fcntl(ends[1], F_SETFD, 0);
      std::array<char, 16> name = {"daemon_test"};
      const std::array<char*, 2> arguments = {name.data(), nullptr};
      execv("/proc/self/exe", arguments.data());
      _exit(127);
    }
    for (const char* const variable : {kEnd, kSocket, kTopology, kSm}) {
      unsetenv(variable);
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
