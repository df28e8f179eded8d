#include "launch/own_program.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/unique_fd.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ibemu::launch {
namespace {

using ::testing::HasSubstr;

class OwnProgramTest : public ::testing::Test {
 protected:
  static constexpr int kLine = 9;

  OwnProgramTest() {
    std::array<int, 2> ends;
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()),
              0);
    ours_.Reset(ends[0]);
    // A shell's redirections know numbers of one digit.
    theirs_.Reset(dup3(ends[1], kLine, O_CLOEXEC));
    close(ends[1]);
  }

  // What a shell with this script writes to the line, until it ends.
  std::string Run(const std::string& script) {
    auto process =
        StartOwnProgram({"/bin/sh", "-c",
                         absl::StrCat("exec 3>&", theirs_.get(), "\n", script)},
                        theirs_.get());
    EXPECT_TRUE(process.ok()) << process.status();
    theirs_.Reset();
    std::string said;
    std::array<char, 256> part;
    ssize_t size = 0;
    while ((size = read(ours_.get(), part.data(), part.size())) > 0) {
      said.append(part.data(), static_cast<size_t>(size));
    }
    siginfo_t info = {};
    waitid(P_PIDFD, static_cast<id_t>(process->get()), &info, WEXITED);
    return said;
  }

  UniqueFd ours_, theirs_;
};

TEST_F(OwnProgramTest, ItsStandardInputAndOutputAreNobodys) {
  EXPECT_EQ(Run("names=$(readlink /proc/$$/fd/0 /proc/$$/fd/1)\n"
                "echo \"$names\" >&9"),
            "/dev/null\n/dev/null\n");
}

TEST_F(OwnProgramTest, ItHasStandardErrorAndWhatDoesNotCloseAlone) {
  const UniqueFd closes(fcntl(ours_.get(), F_DUPFD_CLOEXEC, 10));
  EXPECT_EQ(Run(absl::StrCat("for fd in 2 ", closes.get(),
                             "; do [ ! -e /proc/$$/fd/$fd ] || open=$open$fd; "
                             "done; echo $open >&9")),
            "2\n");
}

TEST_F(OwnProgramTest, ItLeadsASessionOfItsOwn) {
  EXPECT_EQ(Run("read -r pid name state parent group session rest "
                "</proc/$$/stat; [ $session = $$ ] && echo leader >&9"),
            "leader\n");
}

TEST_F(OwnProgramTest, NoSignalIsBlockedForIt) {
  sigset_t blocked, before;
  sigfillset(&blocked);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  const std::string said = Run("grep SigBlk /proc/$$/status >&9");
  sigprocmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(said, "SigBlk:\t0000000000000000\n");
}

TEST_F(OwnProgramTest, WhatIsNotThereIsNamed) {
  const absl::Status status =
      StartOwnProgram({"/nowhere/ibemud"}, kLine).status();
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("/nowhere/ibemud"));
}

TEST(OwnProgram, IsWhereItIsInstalledUnlessItIsBesideThisOne) {
  EXPECT_EQ(OwnProgram("no-such-program", "/usr/sbin"),
            "/usr/sbin/no-such-program");
  std::array<char, 4096> path;
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  ASSERT_GT(size, 0);
  const std::string self(path.data(), static_cast<size_t>(size));
  EXPECT_EQ(OwnProgram(self.substr(self.rfind('/') + 1), "/usr/sbin"), self);
}

}  // namespace
}  // namespace ibemu::launch
