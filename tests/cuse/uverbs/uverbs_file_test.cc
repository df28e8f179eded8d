#include "cuse/uverbs/uverbs_file.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <unistd.h>

#include "base/supervisor_ioctls.h"
#include "testing/fake_device.h"
#include "testing/fake_provider.h"
#include "testing/post_box.h"
#include "testing/uverbs_commands.h"
#include "testing/virtual_timers.h"
#include "tests/cuse/file_driver.h"

namespace ibemu::cuse {
namespace {

using testing::Answered, testing::PlainCommand;

constexpr verbs::AdapterIdentity kHfi1Identity = {0x1175, 0x24f0,
                                                  0x1'001b'0000};

// The client is this process: what it is answered lands in its own memory.
class UverbsFileTest : public ::testing::Test {
 protected:
  UverbsFileTest() { EXPECT_EQ(driver_.Open(), Errno::kOk); }

  RequestId StartWrite(const testing::CommandBytes& command) {
    return driver_.StartWrite(command, getpid());
  }
  Errno Finish(RequestId write) {
    auto answer = driver_.AnswerTo(write);
    while (!answer) {
      posts_.WaitAndRun();
      answer = driver_.AnswerTo(write);
    }
    return answer->error;
  }
  Errno Write(const testing::CommandBytes& command) {
    return Finish(StartWrite(command));
  }

  template <class T>
  static uint64_t AddressOf(const T& value) {
    return reinterpret_cast<uintptr_t>(&value);
  }
  Errno Number(int number, pid_t tid = getpid()) {
    const EventNumber told{tid, number};
    return events_driver_.Ioctl(kNumberEventFile, verbs::AsBytes(told)).error;
  }
  // With an event file that has number 33 in the client.
  Errno GetContext(ib_uverbs_get_context_resp* response) {
    EXPECT_EQ(Number(33), Errno::kOk);
    return Write(
        PlainCommand(IB_USER_VERBS_CMD_GET_CONTEXT,
                     Answered<ib_uverbs_get_context>(AddressOf(*response)), 8));
  }

  testing::VirtualTimers timers_;
  testing::PostBox posts_;
  testing::FakeDevice device_;
  testing::FakeProvider provider_;
  std::shared_ptr<mad::Host> host_ =
      std::make_shared<mad::Host>(timers_, device_);
  WorkerPool workers_{timers_, posts_.Poster()};
  std::shared_ptr<UverbsOffers> offers_ = std::make_shared<UverbsOffers>();
  std::shared_ptr<PinnedPages> pinned_ = std::make_shared<PinnedPages>(0);
  std::unique_ptr<UverbsFile> file_ = std::make_unique<UverbsFile>(
      host_, provider_, kHfi1Identity, timers_, workers_, offers_, pinned_);
  FileDriver driver_{*file_};
  std::unique_ptr<UverbsEventFile> events_ =
      std::make_unique<UverbsEventFile>(offers_, getuid());
  FileDriver events_driver_{*events_};
};

TEST_F(UverbsFileTest, AnswersIntoTheMemoryOfTheClient) {
  auto context = verbs::Blank<ib_uverbs_get_context_resp>();
  EXPECT_EQ(GetContext(&context), Errno::kOk);
  EXPECT_EQ(context.async_fd, 33u);

  ib_uverbs_query_device_resp device{};
  EXPECT_EQ(Write(PlainCommand(
                IB_USER_VERBS_CMD_QUERY_DEVICE,
                Answered<ib_uverbs_query_device>(AddressOf(device)), 176)),
            Errno::kOk);
  EXPECT_EQ(device.vendor_id, 0x1175u);
  EXPECT_EQ(device.vendor_part_id, 0x24f0u);
}

TEST_F(UverbsFileTest, SaysThatAnAnswerHasNoPlace) {
  auto context = verbs::Blank<ib_uverbs_get_context_resp>();
  GetContext(&context);
  EXPECT_EQ(Write(PlainCommand(IB_USER_VERBS_CMD_QUERY_DEVICE,
                               Answered<ib_uverbs_query_device>(8), 176)),
            Errno::kFault);
}

TEST_F(UverbsFileTest, SaysAtOnceWhatIsWrongWithACommand) {
  EXPECT_EQ(Write(PlainCommand(99, uint64_t{0}, 0)), Errno::kInvalid);
  EXPECT_EQ(Write({}), Errno::kInvalid);
}

TEST_F(UverbsFileTest, GivesNoDescriptorToWhoIsNotInAWrite) {
  auto context = verbs::Blank<ib_uverbs_get_context_resp>();
  EXPECT_EQ(Write(PlainCommand(
                IB_USER_VERBS_CMD_GET_CONTEXT,
                Answered<ib_uverbs_get_context>(AddressOf(context)), 8)),
            Errno::kTooManyFiles);
}

TEST_F(UverbsFileTest, ForgetsAnEventFileThatWasClosedBeforeItWasNeeded) {
  Number(33);
  events_.reset();
  auto context = verbs::Blank<ib_uverbs_get_context_resp>();
  EXPECT_EQ(Write(PlainCommand(
                IB_USER_VERBS_CMD_GET_CONTEXT,
                Answered<ib_uverbs_get_context>(AddressOf(context)), 8)),
            Errno::kTooManyFiles);
}

TEST_F(UverbsFileTest, TakesANumberForAnEventFileOnce) {
  EXPECT_EQ(Number(-1), Errno::kInvalid);
  EXPECT_EQ(Number(5), Errno::kOk);
  EXPECT_EQ(Number(5), Errno::kInvalid);
  EXPECT_EQ(events_driver_.Ioctl(0x1234, {}).error, Errno::kNotTty);
}

TEST_F(UverbsFileTest, LeavesToOtherThreadsWhatIsForThem) {
  Number(33, getpid() + 1);
  auto context = verbs::Blank<ib_uverbs_get_context_resp>();
  EXPECT_EQ(Write(PlainCommand(
                IB_USER_VERBS_CMD_GET_CONTEXT,
                Answered<ib_uverbs_get_context>(AddressOf(context)), 8)),
            Errno::kTooManyFiles);
}

TEST_F(UverbsFileTest, KnowsNoIoctls) {
  const ib_uverbs_ioctl_hdr header{};
  EXPECT_EQ(driver_.Ioctl(0xc0181b01, verbs::AsBytes(header)).error,
            Errno::kNotTty);
}

TEST_F(UverbsFileTest, IsNothingToReadFrom) {
  EXPECT_EQ(driver_.Read(100).error, Errno::kInvalid);
  EXPECT_NE(file_->Poll() & POLLOUT, 0u);
}

TEST_F(UverbsFileTest, EndsAWaitingAnswerWhenItIsClosed) {
  auto context = verbs::Blank<ib_uverbs_get_context_resp>();
  GetContext(&context);
  ib_uverbs_query_device_resp device{};
  const RequestId write = StartWrite(
      PlainCommand(IB_USER_VERBS_CMD_QUERY_DEVICE,
                   Answered<ib_uverbs_query_device>(AddressOf(device)), 176));
  file_.reset();
  EXPECT_EQ(driver_.AnswerTo(write)->error, Errno::kIo);
  posts_.WaitAndRun();  // the worker comes back to nobody
}

TEST_F(UverbsFileTest, FailsWhenTheDeviceIsGone) {
  device_.Remove();
  EXPECT_EQ(Write(PlainCommand(IB_USER_VERBS_CMD_GET_CONTEXT,
                               Answered<ib_uverbs_get_context>(8), 8)),
            Errno::kIo);
  UverbsFile late(host_, provider_, kHfi1Identity, timers_, workers_, offers_,
                  pinned_);
  EXPECT_EQ(FileDriver(late).Open(), Errno::kNoSuchAddress);
}

}  // namespace
}  // namespace ibemu::cuse
