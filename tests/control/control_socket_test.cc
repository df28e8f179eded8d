#include "control/control_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"
#include "control/client.h"
#include "control/socket_path.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/temp_directory.h"

namespace ibemu::control {
namespace {

using absl::StatusCode;
using ::testing::HasSubstr;

class ControlSocketTest : public ::testing::Test {
 protected:
  int Mode(const std::string& path) {
    struct stat status;
    return lstat(path.c_str(), &status) == 0
               ? static_cast<int>(status.st_mode & 07777)
               : -1;
  }

  const testing::TempDirectory temporary_;
  const std::string directory_ = temporary_.path();
  const std::string path_ = directory_ + "/lab.sock";
};

TEST_F(ControlSocketTest, OnlyItsOwnerMayConnect) {
  auto socket = ControlSocket::Claim(path_);
  ASSERT_TRUE(socket.ok()) << socket.status();
  EXPECT_EQ(Mode(path_), -1);  // nobody is let in before the fabric stands
  ASSERT_TRUE(socket->Listen().ok());
  EXPECT_EQ(Mode(path_), 0600);
  EXPECT_EQ(Mode(path_ + ".lock"), 0600);
}

TEST_F(ControlSocketTest, ASecondDaemonIsToldWhatToDo) {
  const auto first = ControlSocket::Claim(path_);
  ASSERT_TRUE(first.ok());
  const auto second = ControlSocket::Claim(path_);
  ASSERT_EQ(second.status().code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(std::string(second.status().message()),
            path_ + ": a daemon is running there already (process " +
                std::to_string(getpid()) +
                "): join it with \"ibemu run --fabric\", end it, or choose "
                "another --name");
}

TEST_F(ControlSocketTest, NothingIsLeftBehind) {
  {
    auto socket = ControlSocket::Claim(path_);
    ASSERT_TRUE(socket.ok());
    ASSERT_TRUE(socket->Listen().ok());
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(ControlSocketTest, WhatADeadDaemonLeftIsTakenOver) {
  // A child that dies without cleaning up.
  const pid_t child = fork();
  if (child == 0) {
    auto socket = ControlSocket::Claim(path_);
    _exit(socket.ok() && socket->Listen().ok() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(Mode(path_), 0600);

  auto socket = ControlSocket::Claim(path_);
  ASSERT_TRUE(socket.ok()) << socket.status();
  EXPECT_TRUE(socket->Listen().ok());
}

TEST_F(ControlSocketTest, RemainsOfDeadRunsAreSwept) {
  const auto living = ControlSocket::ClaimPrivate(directory_);
  ASSERT_TRUE(living.ok()) << living.status();
  const auto other = ControlSocket::Claim(path_);
  const auto run = [this](bool is_killed) {
    const pid_t child = fork();
    if (child == 0) {
      auto socket = ControlSocket::ClaimPrivate(directory_);
      if (!socket.ok() || !socket->Listen().ok()) _exit(1);
      if (is_killed) _exit(0);
      { const ControlSocket ends = *std::move(socket); }
      _exit(0);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    return absl::StrCat(directory_, "/run-", child, ".sock");
  };
  const std::string dead = run(/*is_killed=*/true);
  EXPECT_EQ(Mode(dead), 0600);
  run(/*is_killed=*/false);
  EXPECT_EQ(Mode(dead), -1);
  EXPECT_EQ(Mode(dead + ".lock"), -1);
  EXPECT_EQ(Mode(living->path() + ".lock"), 0600);
  EXPECT_EQ(Mode(path_ + ".lock"), 0600);
}

TEST_F(ControlSocketTest, RunsThatStartAtATimeDoNotTakeEachOthersNames) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    for (int times = 0; times < 50; ++times) {
      if (!ControlSocket::ClaimPrivate(directory_).ok()) _exit(1);
    }
    _exit(0);
  }
  for (const pid_t child : children) {
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

TEST_F(ControlSocketTest, AnotherUsersLockIsNotTaken) {
  if (geteuid() != 0) GTEST_SKIP() << "giving a file away needs root";
  const std::string lock = path_ + ".lock";
  close(open(lock.c_str(), O_CREAT | O_CLOEXEC, 0666));
  ASSERT_EQ(chown(lock.c_str(), 12345, 12345), 0);
  const auto socket = ControlSocket::Claim(path_);
  ASSERT_EQ(socket.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(socket.status().message()),
              HasSubstr(lock + ": it belongs to user 12345"));
}

TEST_F(ControlSocketTest, AnotherUsersSocketStays) {
  if (geteuid() != 0) GTEST_SKIP() << "giving a file away needs root";
  const pid_t child = fork();
  if (child == 0) {
    auto socket = ControlSocket::Claim(path_);
    _exit(socket.ok() && socket->Listen().ok() ? 0 : 1);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  ASSERT_EQ(chown(path_.c_str(), 12345, 12345), 0);
  auto socket = ControlSocket::Claim(path_);
  ASSERT_TRUE(socket.ok());
  EXPECT_EQ(socket->Listen().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(Mode(path_), 0600);
}

TEST_F(ControlSocketTest, AFileThatIsNoSocketStays) {
  close(open(path_.c_str(), O_CREAT | O_CLOEXEC, 0644));
  auto socket = ControlSocket::Claim(path_);
  ASSERT_TRUE(socket.ok());
  EXPECT_EQ(socket->Listen().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(Mode(path_), 0644);
}

TEST_F(ControlSocketTest, ADirectoryThatOthersMayLookIntoIsRefused) {
  EXPECT_TRUE(PrepareSocketDirectory(directory_ + "/new").ok());
  EXPECT_EQ(Mode(directory_ + "/new"), 0700);
  ASSERT_EQ(chmod(directory_.c_str(), 0711), 0);
  EXPECT_TRUE(PrepareSocketDirectory(directory_).ok());
  ASSERT_EQ(chmod(directory_.c_str(), 0755), 0);
  const absl::Status open = PrepareSocketDirectory(directory_);
  EXPECT_EQ(open.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(open.message()), HasSubstr("mode 0755"));
}

TEST_F(ControlSocketTest, ASymbolicLinkIsNoDirectory) {
  const std::string link = directory_ + "/link";
  ASSERT_EQ(symlink("/tmp", link.c_str()), 0);
  EXPECT_EQ(PrepareSocketDirectory(link).code(),
            StatusCode::kFailedPrecondition);
}

TEST_F(ControlSocketTest, AnotherUsersDirectoryIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "giving a directory away needs root";
  ASSERT_EQ(chmod(directory_.c_str(), 0700), 0);
  ASSERT_EQ(chown(directory_.c_str(), 12345, 12345), 0);
  EXPECT_THAT(std::string(PrepareSocketDirectory(directory_).message()),
              HasSubstr("it belongs to user 12345"));
}

TEST_F(ControlSocketTest, ANameThatNobodyHasSuggestsOneThatIsThere) {
  auto socket = ControlSocket::Claim(path_);
  ASSERT_TRUE(socket.ok());
  ASSERT_TRUE(socket->Listen().ok());
  const auto client = Client::Connect(directory_ + "/lap.sock");
  EXPECT_EQ(client.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(std::string(client.status().message()),
              HasSubstr("did you mean \"lab\"?"));
}

TEST_F(ControlSocketTest, WhoIsPatientForAWhileHearsOfADaemonThatIsStopped) {
  auto socket = ControlSocket::Claim(path_);
  ASSERT_TRUE(socket.ok() && socket->Listen().ok());
  const auto client = Client::Connect(path_, absl::Milliseconds(1));
  EXPECT_EQ(client.status().code(), StatusCode::kDeadlineExceeded);
}

// As a service manager passes it.
TEST_F(ControlSocketTest, ASocketOfSomebodyElseStaysWhenTheDaemonEnds) {
  UniqueFd passed(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path_.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(
      bind(passed.get(), reinterpret_cast<sockaddr*>(&address), sizeof address),
      0);
  EXPECT_EQ(ControlSocket::Adopt(UniqueFd(dup(passed.get()))).status().code(),
            StatusCode::kInvalidArgument)
      << "nobody listens";
  ASSERT_EQ(listen(passed.get(), 1), 0);
  {
    auto adopted = ControlSocket::Adopt(UniqueFd(dup(passed.get())));
    ASSERT_TRUE(adopted.ok()) << adopted.status();
    EXPECT_EQ(adopted->path(), path_);
    EXPECT_TRUE(adopted->Listen().ok());
    EXPECT_EQ(ControlSocket::Claim(path_).status().code(),
              StatusCode::kAlreadyExists);
  }
  EXPECT_TRUE(std::filesystem::is_socket(path_));
  EXPECT_EQ(Mode(path_ + ".lock"), -1);
}

TEST_F(ControlSocketTest, WhatHasNoPathIsNotAdopted) {
  EXPECT_EQ(
      ControlSocket::Adopt(UniqueFd(open("/dev/null", O_RDWR))).status().code(),
      StatusCode::kInvalidArgument);
}

TEST(SocketPathTest, ANameIsALeafOfTheUsersDirectory) {
  EXPECT_EQ(SocketPath("lab").value(), SocketDirectory() + "/lab.sock");
  EXPECT_EQ(SocketPath("./lab").value(), "./lab");
}

TEST(SocketPathTest, WithoutANameTheEnvironmentDecides) {
  unsetenv("IBEMU_FABRIC");
  EXPECT_EQ(SocketPath("").value(), SocketDirectory() + "/default.sock");
  setenv("IBEMU_FABRIC", "/x/y.sock", 1);
  EXPECT_EQ(SocketPath("").value(), "/x/y.sock");
  unsetenv("IBEMU_FABRIC");
}

TEST(SocketPathTest, WhatIsNoNameIsRefused) {
  for (const char* name : {"..", "a b", "a\n", ".hidden"}) {
    EXPECT_EQ(SocketPath(name).status().code(), StatusCode::kInvalidArgument)
        << name;
  }
  EXPECT_EQ(SocketPath("/" + std::string(107, 'x')).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_TRUE(SocketPath("/" + std::string(106, 'x')).ok());
}

}  // namespace
}  // namespace ibemu::control
