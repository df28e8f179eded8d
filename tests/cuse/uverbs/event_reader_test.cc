#include "cuse/uverbs/event_reader.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <optional>

#include "tests/cuse/file_driver.h"
#include "verbs/uverbs/command.h"

namespace ibemu::cuse {
namespace {

// A file of nothing but events.
class EventFile final : public File {
 public:
  void Open(bool, OpenReply reply) override { reply.Opened(); }
  void Read(bool nonblock, ReadReply reply) override {
    reader.Read(nonblock, std::move(reply));
  }
  void Write(Written, WriteReply reply) override {
    reply.Fail(Errno::kInvalid);
  }
  void Ioctl(const IoctlRequest&, IoctlReply reply) override {
    reply.Fail(Errno::kNotTty);
  }
  uint32_t Poll() override { return reader.Poll(); }
  void Interrupt(RequestId id) override { reader.Interrupt(id); }

  EventReader reader{[this] { NotifyEvents(); }};
};

class EventReaderTest : public ::testing::Test {
 protected:
  EventReaderTest() { file_->reader.Bind(queue_); }

  void Push(uint64_t value) { queue_->Push(verbs::AsBytes(value), nullptr); }

  std::shared_ptr<verbs::EventQueue> queue_ =
      std::make_shared<verbs::EventQueue>(sizeof(uint64_t));
  std::unique_ptr<EventFile> file_ = std::make_unique<EventFile>();
  FileDriver driver_{*file_};
};

TEST_F(EventReaderTest, GivesOneEventARead) {
  Push(7);
  Push(8);
  EXPECT_EQ(file_->Poll(), uint32_t{POLLIN | POLLRDNORM});
  const auto answer = driver_.Read(100);
  ASSERT_EQ(answer.data.size(), sizeof(uint64_t));
  EXPECT_EQ(verbs::ReadAs<uint64_t>(answer.data), 7u);
  EXPECT_EQ(verbs::ReadAs<uint64_t>(driver_.Read(8).data), 8u);
  EXPECT_EQ(driver_.Read(8).error, Errno::kTryAgain);
  EXPECT_EQ(file_->Poll(), 0u);
}

TEST_F(EventReaderTest, WaitsForAnEvent) {
  const RequestId read = driver_.StartRead(8);
  EXPECT_FALSE(driver_.AnswerTo(read).has_value());
  Push(9);
  const auto answer = driver_.AnswerTo(read);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(verbs::ReadAs<uint64_t>(answer->data), 9u);
  EXPECT_EQ(driver_.events, 0) << "poll() has nothing new";
}

TEST_F(EventReaderTest, EndsAWaitWhenASignalComes) {
  const RequestId read = driver_.StartRead(8);
  file_->Interrupt(read);
  EXPECT_EQ(driver_.AnswerTo(read)->error, Errno::kInterrupted);
}

TEST_F(EventReaderTest, RefusesABufferThatIsTooSmallAndKeepsTheEvent) {
  Push(7);
  EXPECT_EQ(driver_.Read(7).error, Errno::kInvalid);
  EXPECT_EQ(driver_.Read(8).error, Errno::kOk);
}

TEST_F(EventReaderTest, WakesWhoPolls) {
  Push(7);
  EXPECT_EQ(driver_.events, 1);
}

TEST_F(EventReaderTest, HasNothingToReadBeforeItHasAQueue) {
  EventFile file;
  FileDriver driver(file);
  EXPECT_EQ(driver.Read(8).error, Errno::kInvalid);
  EXPECT_EQ(file.Poll(), 0u);
}

TEST_F(EventReaderTest, ClosesItsQueueWhenItEnds) {
  file_.reset();
  EXPECT_TRUE(queue_->closed());
  Push(7);
}

}  // namespace
}  // namespace ibemu::cuse
