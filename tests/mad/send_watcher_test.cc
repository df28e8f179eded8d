// What becomes of sends, as the watcher of a host hears of it.
#include "mad/send_watcher.h"

#include <optional>
#include <vector>

#include "tests/mad/rmpp_fixture.h"

namespace ibemu::mad {
namespace {

struct RecordingWatcher final : SendWatcher {
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
  void OnAnswer(const AnsweredSend& send) override {
    answered.push_back({.port = send.port,
                        .tries = send.tries,
                        .begin = send.begin,
                        .tid = HeaderOf(send.packet.mad).tid,
                        .status = send.status});
  }
  struct Answered {
    int port, tries;
    absl::Time begin;
    uint64_t tid;
    MadStatus status;
  };
  std::vector<Heard> heard;
  std::vector<Answered> answered;
};

class SendWatcherTest : public HostTest {
 protected:
  SendWatcherTest() { host_.SetSendWatcher(watcher_); }

  RecordingWatcher watcher_;
};

// The one agent sends messages with RMPP.
class RmppSendWatcherTest : public RmppAgentTest {
 protected:
  RmppSendWatcherTest() { host_.SetSendWatcher(watcher_); }
  const RecordingWatcher::Heard& Heard() {
    EXPECT_THAT(watcher_.heard, SizeIs(1));
    static const RecordingWatcher::Heard nothing{};
    return watcher_.heard.empty() ? nothing : watcher_.heard[0];
  }
  RmppProgress Progress() { return Heard().rmpp.value_or(RmppProgress{}); }

  RecordingWatcher watcher_;
};

TEST_F(SendWatcherTest, HearsOfTheLastTimeoutAlone) {
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

TEST_F(SendWatcherTest, HearsOfWhatIsOutstandingWhenAnAgentEnds) {
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

TEST_F(SendWatcherTest, HearsNothingOfWhatIsCancelled) {
  auto agent = RegisterSender();
  ASSERT_TRUE(agent->Send(MessageTo(kPeer, MakeMad(kPerfGet), kTimeout)).ok());
  agent->Cancel(static_cast<uint32_t>(kPerfGet.tid));
  timers_.RunFor(10 * kTimeout);
  EXPECT_THAT(watcher_.heard, IsEmpty());
  EXPECT_THAT(watcher_.answered, IsEmpty());
}

TEST_F(SendWatcherTest, HearsOfAnAnswerAndOfTheTriesThatItTook) {
  auto agent = RegisterSender();
  const absl::Time begin = timers_.Now();
  ASSERT_TRUE(
      agent->Send(MessageTo(kPeer, MakeMad(kPerfGet), kTimeout, 2)).ok());
  timers_.RunFor(kTimeout + kTimeout / 2);
  MadBytes answer = AnswerToLast();
  wire::Put<&MadHeader::status>(answer, MadStatus::kBusy);
  port_.Receive(From(kPeer, answer));
  port_.Receive(From(kPeer, answer));  // nobody waits for a second one
  timers_.RunFor(10 * kTimeout);
  EXPECT_THAT(watcher_.heard, IsEmpty());
  ASSERT_THAT(watcher_.answered, SizeIs(1));
  EXPECT_EQ(watcher_.answered[0].port, 1);
  EXPECT_EQ(watcher_.answered[0].tries, 2);
  EXPECT_EQ(watcher_.answered[0].begin, begin);
  EXPECT_EQ(watcher_.answered[0].tid, HeaderOf(port_.sent[0].mad).tid);
  EXPECT_EQ(watcher_.answered[0].status, MadStatus::kBusy);
}

TEST_F(RmppSendWatcherTest, HearsWhichSegmentsOfAnAnswerHaveNoAck) {
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

TEST_F(RmppSendWatcherTest, HearsThatAnAcknowledgedRequestHasNoAnswer) {
  SendRequest(3 * 200);
  Ack(1, 3);
  timers_.RunFor(kTimeout / 2);
  Ack(3, 3);
  const absl::Time acknowledged = timers_.Now();
  timers_.RunFor(kTimeout);
  EXPECT_EQ(Heard().begin, acknowledged);
  EXPECT_TRUE(Progress().all_acknowledged());
}

TEST_F(RmppSendWatcherTest, HearsWhyAMessageWasBrokenOff) {
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

TEST_F(RmppSendWatcherTest, HearsOfAnUnacknowledgedAnswerWhenTheAgentEnds) {
  SendAnswer(3 * 200);
  agent_.reset();
  EXPECT_TRUE(Heard().agent_ended);
  EXPECT_EQ(Progress().acknowledged, 0u);
}

TEST_F(RmppSendWatcherTest, HearsNothingOfAMessageThatArrived) {
  SendAnswer(3 * 200);
  Ack(1, 3);
  Ack(3, 3);
  timers_.RunFor(10 * kTimeout);
  EXPECT_THAT(watcher_.heard, IsEmpty());
}

}  // namespace
}  // namespace ibemu::mad
