// Whose commands an open uverbsN takes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <memory>

#include "base/opened_for.h"
#include "cuse/fuse/fuse_tree.h"
#include "testing/fake_device.h"
#include "testing/fake_provider.h"
#include "testing/kernel_side.h"
#include "testing/post_box.h"
#include "testing/virtual_timers.h"
#include "tests/cuse/long_writer.h"
#include "tests/cuse/other_process.h"

namespace ibemu::cuse {
namespace {

using testing::KernelSide;

constexpr uid_t kUser = 1000;
constexpr uid_t kSupervisor = 1001;

class OpenerTest : public ::testing::Test {
 protected:
  OpenerTest() {
    EXPECT_TRUE(tree_.Serve(kernel_.TakeServerFd()).ok());
    kernel_.SetPump([this] { Pump(); });
    kernel_.Init();
  }

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

  void Pump() {
    while (tree_.HandleOne() == FuseResult::kHandled) timers_.RunPending();
  }

  testing::VirtualTimers timers_;
  testing::PostBox posts_;
  testing::FakeDevice device_{1};
  testing::FakeProvider provider_;
  sysfs::View view_{
      .devices = {{.name = "ibemu0",
                   .host = std::make_shared<mad::Host>(timers_, device_),
                   .umads = {0},
                   .uverbs = 0}}};
  WorkerPool workers_{timers_, posts_.Poster()};
  FuseTree tree_{
      timers_, view_, workers_,
      FuseTree::Options{.uid = kSupervisor,
                        .gid = kSupervisor,
                        .provider_of = [this](int) -> verbs::Provider& {
                          return provider_;
                        }}};
  KernelSide kernel_;
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

TEST_F(OpenerTest, ASupervisorOpensForItsClient) {
  OtherProcess client(&OtherProcess::GiveUpRights);
  client.Change();
  for (const uid_t supervisor : {uid_t{0}, kSupervisor}) {
    const auto file = OpenAs(getpid(), kUser);
    EXPECT_EQ(CommandOf(client.pid(), kUser, file), EACCES);
    EXPECT_EQ(OpenedFor(client.pid(), supervisor, file), 0);
    EXPECT_EQ(CommandOf(client.pid(), kUser, file), kTaken);
    EXPECT_EQ(CommandOf(getpid(), kUser, file), EACCES);
  }
}

TEST_F(OpenerTest, NobodyElseSpeaksForOthers) {
  OtherProcess client(&OtherProcess::GiveUpRights);
  client.Change();
  const auto file = OpenAs(getpid(), kUser);
  EXPECT_EQ(OpenedFor(client.pid(), kUser, file), EPERM);
  EXPECT_EQ(CommandOf(client.pid(), kUser, file), EACCES);
  EXPECT_EQ(OpenedFor(0x3fffffff, 0, file), ESRCH);
  EXPECT_EQ(CommandOf(getpid(), kUser, file), EACCES);
}

}  // namespace
}  // namespace ibemu::cuse
