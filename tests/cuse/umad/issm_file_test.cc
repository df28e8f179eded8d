#include "cuse/umad/issm_file.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <memory>

#include "testing/fake_device.h"
#include "testing/virtual_timers.h"
#include "tests/cuse/file_driver.h"

namespace ibemu::cuse {
namespace {

class IssmFileTest : public ::testing::Test {
 protected:
  struct Opener {
    Opener(const std::shared_ptr<mad::Host>& host, int port)
        : file(std::make_unique<IssmFile>(host, port)), issm(*file) {}
    std::unique_ptr<IssmFile> file;
    FileDriver issm;
  };

  testing::VirtualTimers timers_;
  testing::FakeDevice device_{2};
  std::shared_ptr<mad::Host> host_ =
      std::make_shared<mad::Host>(timers_, device_);
  Opener first_{host_, 1};
  Opener second_{host_, 1};
};

// [issm_*]
TEST_F(IssmFileTest, ThePortIsAnSmWhileTheFileIsOpen) {
  EXPECT_EQ(first_.issm.Open(), Errno::kOk);
  EXPECT_TRUE(device_.port(1).is_sm);
  first_.file.reset();
  EXPECT_FALSE(device_.port(1).is_sm);
}

// [issm_*]
TEST_F(IssmFileTest, EachPortHasItsOwn) {
  Opener other(host_, 2);
  EXPECT_EQ(first_.issm.Open(), Errno::kOk);
  EXPECT_EQ(other.issm.Open(), Errno::kOk);
}

// [issm_*]
TEST_F(IssmFileTest, ASecondOpenFailsOrWaits) {
  ASSERT_EQ(first_.issm.Open(), Errno::kOk);
  EXPECT_EQ(second_.issm.Open(/*nonblock=*/true), Errno::kTryAgain);
  const RequestId opening = second_.issm.StartOpen();
  EXPECT_FALSE(second_.issm.AnswerTo(opening).has_value());
  first_.file.reset();
  timers_.RunPending();
  EXPECT_EQ(second_.issm.AnswerTo(opening).value().error, Errno::kOk);
  EXPECT_TRUE(device_.port(1).is_sm);
}

// [issm_*]
TEST_F(IssmFileTest, AnInterruptedOpenLeavesTheLine) {
  ASSERT_EQ(first_.issm.Open(), Errno::kOk);
  const RequestId opening = second_.issm.StartOpen();
  second_.file->Interrupt(opening);
  EXPECT_EQ(second_.issm.AnswerTo(opening).value().error, Errno::kInterrupted);
  first_.file.reset();
  timers_.RunPending();
  EXPECT_FALSE(device_.port(1).is_sm);
}

// [issm_*]
TEST_F(IssmFileTest, NothingElseCanBeDone) {
  ASSERT_EQ(first_.issm.Open(), Errno::kOk);
  EXPECT_EQ(first_.issm.Read(100).error, Errno::kInvalid);
  EXPECT_EQ(first_.issm.Write(Bytes{}), Errno::kInvalid);
  EXPECT_EQ(first_.issm.Ioctl(0x1b03, {}).error, Errno::kNotTty);
  EXPECT_EQ(first_.file->Poll(),
            unsigned{POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM});
}

// [removal]
TEST_F(IssmFileTest, ARemovedDeviceCannotBeOpenedButClosed) {
  ASSERT_EQ(first_.issm.Open(), Errno::kOk);
  device_.Remove();
  EXPECT_EQ(second_.issm.Open(), Errno::kNoSuchAddress);
  first_.file.reset();
  EXPECT_TRUE(device_.port(1).is_sm);  // nobody touched the port
}

TEST_F(IssmFileTest, RemovalWakesNobodyButTheNextCloseDoes) {
  Opener third(host_, 1);
  ASSERT_EQ(first_.issm.Open(), Errno::kOk);
  const RequestId second = second_.issm.StartOpen();
  const RequestId last = third.issm.StartOpen();
  device_.Remove();
  timers_.RunPending();
  EXPECT_FALSE(second_.issm.AnswerTo(second).has_value());

  device_.port(1).is_sm = false;
  first_.file.reset();
  timers_.RunPending();
  EXPECT_EQ(second_.issm.AnswerTo(second).value().error, Errno::kNoSuchAddress);
  EXPECT_EQ(third.issm.AnswerTo(last).value().error, Errno::kNoSuchAddress);
  EXPECT_FALSE(device_.port(1).is_sm);
}

TEST_F(IssmFileTest, ASignalEndsTheWaitForARemovedDevice) {
  ASSERT_EQ(first_.issm.Open(), Errno::kOk);
  const RequestId opening = second_.issm.StartOpen();
  device_.Remove();
  timers_.RunPending();
  second_.file->Interrupt(opening);
  EXPECT_EQ(second_.issm.AnswerTo(opening).value().error, Errno::kInterrupted);
}

}  // namespace
}  // namespace ibemu::cuse
