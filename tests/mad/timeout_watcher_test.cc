// Sends without an answer, as the watcher of a host hears of them.
#include "mad/timeout_watcher.h"

#include <optional>
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
    std::optional<RmppProgress> rmpp;
  };
  void OnTimeout(const UnansweredSend& send) override {
    heard.push_back({send.port, send.tries, send.begin,
                     HeaderOf(send.packet.mad).tid, send.agent_ended,
                     send.rmpp});
  }
  std::vector<Heard> heard;
};

class TimeoutWatcherTest : public HostTest {
 protected:
  TimeoutWatcherTest() { host_.SetTimeoutWatcher(watcher_); }

  RecordingWatcher watcher_;
};

// The one agent sends messages with RMPP.
class RmppTimeoutWatcherTest : public RmppAgentTest {
 protected:
  RmppTimeoutWatcherTest() { host_.SetTimeoutWatcher(watcher_); }
  const RecordingWatcher::Heard& Heard() {
    EXPECT_THAT(watcher_.heard, SizeIs(1));
    static const RecordingWatcher::Heard nothing{};
    return watcher_.heard.empty() ? nothing : watcher_.heard[0];
  }
  RmppProgress Progress() { return Heard().rmpp.value_or(RmppProgress{}); }

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

TEST_F(RmppTimeoutWatcherTest, HearsWhichSegmentsOfAnAnswerHaveNoAck) {
  SendAnswer(3 * 200, kTimeout, /*retries=*/1);
  timers_.RunFor(kTimeout / 2);
  Ack(1, 3);
  const absl::Time acknowledged = timers_.Now();
  timers_.RunFor(kTimeout);
  EXPECT_THAT(watcher_.heard, IsEmpty());
  timers_.RunFor(kTimeout);
  EXPECT_EQ(Heard().tid, HeaderOf(first_).tid);
  EXPECT_EQ(Heard().tries, 2);
  EXPECT_EQ(Heard().begin, acknowledged);
  EXPECT_FALSE(Heard().agent_ended);
  EXPECT_EQ(Progress().segments, 3u);
  EXPECT_EQ(Progress().acknowledged, 1u);
  EXPECT_EQ(Progress().broken_off, std::nullopt);
}

TEST_F(RmppTimeoutWatcherTest, HearsThatAnAcknowledgedRequestHasNoAnswer) {
  SendRequest(3 * 200);
  Ack(1, 3);
  timers_.RunFor(kTimeout / 2);
  Ack(3, 3);
  const absl::Time acknowledged = timers_.Now();
  timers_.RunFor(kTimeout);
  EXPECT_EQ(Heard().begin, acknowledged);
  EXPECT_TRUE(Progress().all_acknowledged());
}

TEST_F(RmppTimeoutWatcherTest, HearsWhyAMessageWasBrokenOff) {
  SendAnswer(3 * 200);
  port_.Receive(Control(
      {.type = RmppType::kAbort, .status = RmppStatus::kTotalTimeTooLong}));
  EXPECT_EQ(Progress().broken_off, RmppStatus::kTotalTimeTooLong);
  EXPECT_TRUE(Progress().by_peer);
  watcher_.heard.clear();
  SendAnswer(3 * 200);
  Ack(4, 4);
  EXPECT_EQ(Progress().broken_off, RmppStatus::kSegmentTooBig);
  EXPECT_FALSE(Progress().by_peer);
}

TEST_F(RmppTimeoutWatcherTest, HearsOfAnUnacknowledgedAnswerWhenTheAgentEnds) {
  SendAnswer(3 * 200);
  agent_.reset();
  EXPECT_TRUE(Heard().agent_ended);
  EXPECT_EQ(Progress().acknowledged, 0u);
}

TEST_F(RmppTimeoutWatcherTest, HearsNothingOfAMessageThatArrived) {
  SendAnswer(3 * 200);
  Ack(1, 3);
  Ack(3, 3);
  timers_.RunFor(10 * kTimeout);
  EXPECT_THAT(watcher_.heard, IsEmpty());
}

}  // namespace
}  // namespace ibemu::mad
