// Whose commands an open uverbsN takes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/supervisor_ioctls.h"
#include "tests/cuse/fuse/verbs_tree_fixture.h"
#include "tests/cuse/long_writer.h"
#include "tests/cuse/other_process.h"

namespace ibemu::cuse {
namespace {

using testing::KernelSide;

constexpr uid_t kUser = 1000;
constexpr uid_t kSupervisor = 1001;

class OpenerTest : public VerbsTreeTest {
 protected:
  OpenerTest() : VerbsTreeTest(kSupervisor) { kernel_.Init(); }

  KernelSide::OpenFile OpenAs(pid_t tid, uid_t user) {
    kernel_.SetCaller(tid, user);
    const KernelSide::OpenFile file = kernel_.Open("dev/.uverbs0", O_RDWR);
    EXPECT_EQ(file.error, 0);
    return file;
  }

  // The errno of a command; kTaken if it was looked at.
  static constexpr int kTaken = EINVAL;
  int CommandOf(pid_t tid, uid_t user, const KernelSide::OpenFile& file) {
    kernel_.SetCaller(tid, user);
    return kernel_.Write(file, std::vector<std::byte>(16)).error;
  }

  int OpenedFor(int32_t tid, uid_t user, const KernelSide::OpenFile& file) {
    kernel_.SetCaller(getpid(), user);
    return kernel_.Ioctl(file, kOpenedFor, testing::AsBytes(tid), 0).error;
  }
};

TEST_F(OpenerTest, AForkedChildMayWriteCommands) {
  const OtherProcess child;
  const auto file = OpenAs(getpid(), kUser);
  EXPECT_EQ(CommandOf(getpid(), kUser, file), kTaken);
  EXPECT_EQ(CommandOf(child.pid(), kUser, file), kTaken);
}

TEST_F(OpenerTest, AProcessWithOtherRightsMayNot) {
  OtherProcess child(&OtherProcess::GiveUpRights);
  const auto file = OpenAs(getpid(), kUser);
  EXPECT_EQ(CommandOf(child.pid(), kUser, file), kTaken);
  child.Change();
  EXPECT_EQ(CommandOf(child.pid(), kUser, file), EACCES);
  EXPECT_EQ(CommandOf(getpid(), kUser, file), kTaken);
}

// Its own credentials may be others than those of the request.
TEST_F(OpenerTest, ARequestWithOtherFileSystemIdsIsRefused) {
  const auto file = OpenAs(getpid(), kUser);
  EXPECT_EQ(CommandOf(getpid(), 0, file), EACCES);
  EXPECT_EQ(CommandOf(getpid(), kUser, file), kTaken);
}

TEST_F(OpenerTest, WhoCannotBeLookedUpMayNot) {
  constexpr pid_t kNobody = 0x3fffffff;
  const auto file = OpenAs(kNobody, kUser);
  EXPECT_EQ(CommandOf(kNobody, kUser, file), EACCES);
}

TEST_F(OpenerTest, ACommandLongerThanItsHeaderCanTellIsRefusedAtOnce) {
  constexpr size_t kLongest = UINT16_MAX * 8 + 24;
  const std::vector<std::byte> piece(KernelSide::kPiece);
  const auto file = OpenAs(getpid(), kUser);
  const LongWriter too_long(kLongest + 1);
  kernel_.SetCaller(too_long.tid(), kUser);
  EXPECT_EQ(kernel_.Write(file, piece).error, EINVAL);
  const LongWriter longest(kLongest);
  kernel_.SetCaller(longest.tid(), kUser);
  EXPECT_EQ(kernel_.Write(file, piece).error, 0);
}

// Its client has his file system ids, and other credentials than the test.
class SupervisorTest : public OpenerTest {
 protected:
  SupervisorTest() { client_.Change(); }

  static uid_t UserOfClient() { return geteuid() == 0 ? kUser : geteuid(); }
  static gid_t GroupOfClient() { return geteuid() == 0 ? kUser : getegid(); }
  static void BecomeTheClient() {
    if (geteuid() == 0) {
      if (setresgid(kUser, kUser, kUser) != 0) _exit(1);
      if (setresuid(kUser, kUser, kUser) != 0) _exit(1);
    } else {
      prctl(PR_SET_DUMPABLE, 0);
    }
  }

  KernelSide::OpenFile OpenForClient(uid_t user = UserOfClient(),
                                     gid_t group = GroupOfClient()) {
    kernel_.SetCaller(getpid(), user, group);
    return kernel_.Open("dev/.uverbs0", O_RDWR);
  }
  int CommandOf(pid_t tid, const KernelSide::OpenFile& file) {
    kernel_.SetCaller(tid, UserOfClient(), GroupOfClient());
    return kernel_.Write(file, std::vector<std::byte>(16)).error;
  }

  OtherProcess client_{&BecomeTheClient};
};

TEST_F(SupervisorTest, ASupervisorOpensForItsClient) {
  for (const uid_t supervisor : {uid_t{0}, kSupervisor}) {
    const auto file = OpenForClient();
    EXPECT_EQ(OpenedFor(client_.pid(), supervisor, file), 0);
    EXPECT_EQ(CommandOf(client_.pid(), file), kTaken);
    EXPECT_EQ(CommandOf(getpid(), file), EACCES);
  }
}

TEST_F(SupervisorTest, NobodyElseSpeaksForOthers) {
  const auto file = OpenForClient();
  EXPECT_EQ(OpenedFor(client_.pid(), kUser + 7, file), EPERM);
  EXPECT_EQ(CommandOf(client_.pid(), file), EACCES);
}

TEST_F(SupervisorTest, NobodyOpensForAThreadThatIsGone) {
  const auto file = OpenForClient();
  EXPECT_EQ(OpenedFor(0x3fffffff, 0, file), ESRCH);
  EXPECT_EQ(CommandOf(getpid(), file), EACCES);
}

TEST_F(SupervisorTest, TheOpenerIsToldOnce) {
  const auto file = OpenForClient();
  EXPECT_EQ(OpenedFor(client_.pid(), 0, file), 0);
  EXPECT_EQ(OpenedFor(client_.pid(), 0, file), EBUSY);
  EXPECT_EQ(CommandOf(client_.pid(), file), kTaken);
}

TEST_F(SupervisorTest, TheOpenerIsToldBeforeAnythingIsWritten) {
  const auto file = OpenForClient();
  EXPECT_EQ(CommandOf(client_.pid(), file), EACCES);
  EXPECT_EQ(OpenedFor(client_.pid(), 0, file), EBUSY);
  EXPECT_EQ(CommandOf(client_.pid(), file), EACCES);
}

TEST_F(SupervisorTest, AFileIsOpenedForItsOwnUserAndGroupAlone) {
  for (const auto& [user, group] :
       {std::pair(UserOfClient() + 7, GroupOfClient()),
        std::pair(UserOfClient(), GroupOfClient() + 7)}) {
    const auto file = OpenForClient(user, group);
    EXPECT_EQ(OpenedFor(client_.pid(), 0, file), EPERM);
    kernel_.SetCaller(client_.pid(), user, group);
    EXPECT_EQ(kernel_.Write(file, std::vector<std::byte>(16)).error, EACCES);
  }
}

}  // namespace
}  // namespace ibemu::cuse
