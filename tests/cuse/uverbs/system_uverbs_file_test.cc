#include "cuse/uverbs/system_uverbs_file.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "testing/post_box.h"
#include "testing/uverbs_commands.h"
#include "testing/virtual_timers.h"
#include "tests/cuse/blocked_writer.h"
#include "tests/cuse/file_driver.h"

namespace ibemu::cuse {
namespace {

using testing::CommandBytes, testing::PlainCommand;

// Counts the commands that reach it.
class CountingFile final : public File {
 public:
  explicit CountingFile(int& commands) : commands_(commands) {}

  void Open(bool, OpenReply reply) override { reply.Opened(); }
  void Read(bool, ReadReply reply) override { reply.Fail(Errno::kTryAgain); }
  void Write(Written data, WriteReply reply) override {
    ++commands_;
    reply.Written(data.size());
    NotifyEvents();
  }
  void Ioctl(const IoctlRequest&, IoctlReply reply) override {
    reply.Fail(Errno::kNotTty);
  }
  uint32_t Poll() override { return POLLIN; }
  void Interrupt(RequestId) override {}

 private:
  int& commands_;
};

class SystemUverbsFileTest : public ::testing::Test {
 protected:
  Errno Write(const CommandBytes& command, pid_t caller) {
    return Finish(driver_.StartWrite(command, caller));
  }
  Errno Finish(RequestId id) {
    std::optional<FileDriver::Answer> answer = driver_.AnswerTo(id);
    while (!answer) {
      posts_.WaitAndRun();
      answer = driver_.AnswerTo(id);
    }
    return answer->error;
  }

  const CommandBytes get_context_ =
      PlainCommand(IB_USER_VERBS_CMD_GET_CONTEXT, uint64_t{0}, 8);
  const CommandBytes create_channel_ =
      PlainCommand(IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, uint64_t{0}, 4);
  const CommandBytes query_ =
      PlainCommand(IB_USER_VERBS_CMD_QUERY_DEVICE, uint64_t{0}, 176);

  testing::VirtualTimers timers_;
  testing::PostBox posts_;
  WorkerPool workers_{timers_, posts_.Poster()};
  int commands_ = 0;
  std::unique_ptr<SystemUverbsFile> file_ = std::make_unique<SystemUverbsFile>(
      std::make_unique<CountingFile>(commands_), workers_);
  FileDriver driver_{*file_};
};

TEST_F(SystemUverbsFileTest, ACommandThatWantsADescriptorIsWrittenTwice) {
  for (const CommandBytes& command : {get_context_, create_channel_}) {
    BlockedWriter client;
    EXPECT_EQ(Write(command, client.pid()), Errno::kInterrupted);
    EXPECT_EQ(client.Finish(), 0);  // the pipe saw it twice
    commands_ = 0;
    EXPECT_EQ(Write(command, client.pid()), Errno::kOk);
    EXPECT_EQ(commands_, 1);
  }
}

TEST_F(SystemUverbsFileTest, OtherCommandsAreNot) {
  BlockedWriter client;
  EXPECT_EQ(Write(query_, client.pid()), Errno::kOk);
  EXPECT_EQ(Write(CommandBytes(3), client.pid()), Errno::kOk);
  EXPECT_EQ(commands_, 2);
  EXPECT_EQ(client.Finish(), 0);
}

TEST_F(SystemUverbsFileTest, WhoCannotBeStoppedMakesDoWithWhatTheFileGives) {
  EXPECT_EQ(Write(get_context_, gettid()), Errno::kOk);
  EXPECT_EQ(Write(create_channel_, gettid()), Errno::kOk);
  EXPECT_EQ(commands_, 2);
}

TEST_F(SystemUverbsFileTest, WhoDoesNotWriteAgainIsStoppedTheNextTime) {
  BlockedWriter client(&BlockedWriter::LeaveNoDescriptor);
  EXPECT_EQ(Write(get_context_, client.pid()), Errno::kInterrupted);
  posts_.WaitAndRun();  // the worker is done
  const pid_t tid = client.pid();
  EXPECT_EQ(client.Finish(), EMFILE);
  // That thread is gone: it can't be stopped, but was not taken for one that
  // writes again.
  const RequestId next = driver_.StartWrite(get_context_, tid);
  EXPECT_EQ(commands_, 0);
  EXPECT_EQ(Finish(next), Errno::kOk);
}

TEST_F(SystemUverbsFileTest, AFileThatIsClosedMeanwhileForgetsItsClient) {
  BlockedWriter client;
  driver_.StartWrite(get_context_, client.pid());
  file_.reset();
  posts_.WaitAndRun();
  EXPECT_EQ(commands_, 0);
  EXPECT_EQ(client.Finish(), 0);
}

TEST_F(SystemUverbsFileTest, TheRestIsTheFilesOwn) {
  EXPECT_EQ(driver_.Open(), Errno::kOk);
  EXPECT_EQ(driver_.Read(8).error, Errno::kTryAgain);
  EXPECT_EQ(driver_.Ioctl(1, {}).error, Errno::kNotTty);
  EXPECT_EQ(file_->Poll(), POLLIN);
  EXPECT_EQ(Write(query_, 0), Errno::kOk);
  EXPECT_EQ(driver_.events, 1);
}

}  // namespace
}  // namespace ibemu::cuse
