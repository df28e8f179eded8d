// Sends without an answer, as the watcher of a host hears of them.
#include "mad/timeout_watcher.h"

#include <vector>

#include "tests/mad/rmpp_fixture.h"

namespace ibemu::mad {
namespace {

struct RecordingWatcher final : TimeoutWatcher {
  struct Heard {
    int port, tries;
    absl::Time begin;
    uint64_t tid;
    bool agent_ended;
  };
  void OnTimeout(const UnansweredSend& send) override {
    heard.push_back({send.port, send.tries, send.begin,
                     HeaderOf(send.packet.mad).tid, send.agent_ended});
  }
  std::vector<Heard> heard;
};

class TimeoutWatcherTest : public HostTest {
 protected:
  TimeoutWatcherTest() { host_.SetTimeoutWatcher(watcher_); }

  RecordingWatcher watcher_;
};

TEST_F(TimeoutWatcherTest, HearsOfTheLastTimeoutAlone) {
  auto agent = RegisterSender();
  ASSERT_TRUE(
      agent->Send(MessageTo(kPeer, MakeMad(kPerfGet), kTimeout, 2)).ok());
  timers_.RunFor(2 * kTimeout);
  EXPECT_THAT(watcher_.heard, IsEmpty());
  timers_.RunFor(kTimeout);
  ASSERT_THAT(watcher_.heard, SizeIs(1));
  EXPECT_EQ(watcher_.heard[0].port, 1);
  EXPECT_EQ(watcher_.heard[0].tries, 3);
  EXPECT_EQ(watcher_.heard[0].begin, timers_.Now() - 3 * kTimeout);
  EXPECT_EQ(watcher_.heard[0].tid, HeaderOf(port_.sent[0].mad).tid);
  ASSERT_TRUE(agent->Send(MessageTo(kPeer, MakeMad(kPerfGet), kTimeout)).ok());
  timers_.RunFor(kTimeout);
  ASSERT_THAT(watcher_.heard, SizeIs(2));
  EXPECT_EQ(watcher_.heard[1].tries, 1);
}

TEST_F(TimeoutWatcherTest, HearsOfWhatIsOutstandingWhenAnAgentEnds) {
  auto agent = RegisterSender();
  ASSERT_TRUE(
      agent->Send(MessageTo(kPeer, MakeMad(kPerfGet), kTimeout, 2)).ok());
  timers_.RunFor(kTimeout + kTimeout / 2);
  agent.reset();
  ASSERT_THAT(watcher_.heard, SizeIs(1));
  EXPECT_EQ(watcher_.heard[0].tries, 2);
  EXPECT_EQ(watcher_.heard[0].begin, timers_.Now() - kTimeout - kTimeout / 2);
  EXPECT_TRUE(watcher_.heard[0].agent_ended);
}

TEST_F(TimeoutWatcherTest, HearsNothingOfWhatIsAnsweredOrCancelled) {
  auto agent = RegisterSender();
  ASSERT_TRUE(agent->Send(MessageTo(kPeer, MakeMad(kPerfGet), kTimeout)).ok());
  port_.Receive(From(kPeer, AnswerToLast()));
  ASSERT_TRUE(agent->Send(MessageTo(kPeer, MakeMad(kPerfGet), kTimeout)).ok());
  agent->Cancel(static_cast<uint32_t>(kPerfGet.tid));
  timers_.RunFor(10 * kTimeout);
  EXPECT_THAT(watcher_.heard, IsEmpty());
}

}  // namespace
}  // namespace ibemu::mad
