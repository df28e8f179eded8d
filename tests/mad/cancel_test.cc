// Sends that end, or change their timeout, because the client says so.
#include "tests/mad/rmpp_fixture.h"

namespace ibemu::mad {
namespace {

using absl::StatusCode;

class CancelTest : public HostTest {
 protected:
  void Send(uint64_t cookie, absl::Duration timeout = kTimeout,
            int retries = 0) {
    MadHeader header = kPerfGet;
    header.tid = cookie;
    ASSERT_TRUE(
        agent_
            ->Send(MessageTo(kPeer, MakeMad(header), timeout, retries, cookie))
            .ok());
  }

  std::unique_ptr<Agent> agent_ = RegisterSender();
};

TEST_F(CancelTest, TheClientHearsOnceAndNotBeforeTheCallReturns) {
  Send(1, kTimeout, /*retries=*/3);
  EXPECT_TRUE(agent_->Cancel(1).ok());
  EXPECT_THAT(client_.done, IsEmpty());
  EXPECT_EQ(agent_->Cancel(1).code(), StatusCode::kNotFound);

  timers_.RunFor(absl::Hours(1));
  EXPECT_THAT(client_.done, ElementsAre(1));
  EXPECT_THAT(client_.timed_out, IsEmpty());
  EXPECT_THAT(port_.sent, SizeIs(1));
}

TEST_F(CancelTest, TheAnswerComesTooLate) {
  Send(1);
  const Arrival answer = From(kPeer, AnswerToLast());
  ASSERT_TRUE(agent_->Cancel(1).ok());
  port_.Receive(answer);
  timers_.RunPending();
  port_.Receive(answer);
  EXPECT_THAT(client_.inbox, IsEmpty());
  EXPECT_THAT(client_.done, ElementsAre(1));
}

TEST_F(CancelTest, TheTidIsFreeAtOnce) {
  Send(1);
  ASSERT_TRUE(agent_->Cancel(1).ok());
  Send(1);
  port_.Receive(From(kPeer, AnswerToLast()));
  EXPECT_THAT(client_.inbox, SizeIs(1));
}

TEST_F(CancelTest, OtherSendsGoOn) {
  Send(1);
  Send(2);
  Send(3);
  ASSERT_TRUE(agent_->Cancel(2).ok());
  timers_.RunFor(kTimeout);
  EXPECT_THAT(client_.done, ElementsAre(2));
  EXPECT_THAT(client_.timed_out, ElementsAre(1, 3));
}

TEST_F(CancelTest, WhatIsOverOrUnknownIsNotFound) {
  EXPECT_EQ(agent_->Cancel(1).code(), StatusCode::kNotFound);
  Send(1);
  port_.Receive(From(kPeer, AnswerToLast()));
  EXPECT_EQ(agent_->Cancel(1).code(), StatusCode::kNotFound);
  Send(2);
  timers_.RunFor(kTimeout);
  EXPECT_EQ(agent_->Cancel(2).code(), StatusCode::kNotFound);
  // It needs no answer: that is all but said.
  Send(3, absl::ZeroDuration());
  EXPECT_EQ(agent_->Cancel(3).code(), StatusCode::kNotFound);
  timers_.RunPending();
  EXPECT_THAT(client_.done, ElementsAre(1, 3));
}

TEST_F(CancelTest, TheSendsOfAnotherAgentAreUnknown) {
  auto other = RegisterSender();
  Send(1);
  EXPECT_EQ(other->Cancel(1).code(), StatusCode::kNotFound);
  EXPECT_TRUE(agent_->Cancel(1).ok());
}

TEST_F(CancelTest, AnAgentThatIsGoneHearsNothing) {
  Send(1);
  ASSERT_TRUE(agent_->Cancel(1).ok());
  agent_.reset();
  timers_.RunFor(absl::Hours(1));
  EXPECT_THAT(client_.done, IsEmpty());
}

TEST_F(CancelTest, OnARemovedDeviceNothingIsOutstanding) {
  Send(1);
  device_.Remove();
  EXPECT_EQ(agent_->Cancel(1).code(), StatusCode::kNotFound);
}

// Cancels another send in each of its calls.
class CancellingClient : public RecordingClient {
 public:
  void OnSendDone(Agent& agent, uint64_t cookie) override {
    RecordingClient::OnSendDone(agent, cookie);
    agent.Cancel(cookie + 1).IgnoreError();
  }
  void OnSendTimeout(Agent& agent, uint64_t cookie) override {
    RecordingClient::OnSendTimeout(agent, cookie);
    agent.Cancel(cookie + 1).IgnoreError();
  }
};

TEST_F(CancelTest, AClientMayCancelWhileItIsCalled) {
  CancellingClient client;
  agent_ = Register({}, client);
  for (uint64_t cookie = 1; cookie <= 5; ++cookie) Send(cookie);
  port_.Receive(From(kPeer, AnswerToLast()));  // of the last one
  timers_.RunFor(kTimeout);
  EXPECT_THAT(client.done, ElementsAre(5, 2, 3, 4));
  EXPECT_THAT(client.timed_out, ElementsAre(1));
}

TEST_F(CancelTest, AnotherTimeoutStartsTheTimerAnew) {
  Send(1, kTimeout, /*retries=*/1);
  timers_.RunFor(kTimeout / 2);
  EXPECT_TRUE(agent_->SetTimeout(1, kTimeout * 3).ok());
  timers_.RunFor(kTimeout * 3 - absl::Milliseconds(1));
  EXPECT_THAT(port_.sent, SizeIs(1));
  timers_.RunFor(absl::Milliseconds(1));
  EXPECT_THAT(port_.sent, SizeIs(2));

  // Each retry waits as long.
  timers_.RunFor(kTimeout * 3 - absl::Milliseconds(1));
  EXPECT_THAT(client_.timed_out, IsEmpty());
  timers_.RunFor(absl::Milliseconds(1));
  EXPECT_THAT(client_.timed_out, ElementsAre(1));
}

TEST_F(CancelTest, ATimeoutOfZeroCancels) {
  Send(1);
  EXPECT_TRUE(agent_->SetTimeout(1, absl::ZeroDuration()).ok());
  EXPECT_EQ(agent_->SetTimeout(1, kTimeout).code(), StatusCode::kNotFound);
  timers_.RunFor(absl::Hours(1));
  EXPECT_THAT(client_.done, ElementsAre(1));
}

// --- With RMPP; the cookie is 4.

using CancelRmppTest = RmppAgentTest;

TEST_F(CancelRmppTest, AMessageHalfWayStopsWithoutAWord) {
  SendRequest(2000, kTimeout, /*retries=*/3);
  Ack(1, 5);
  port_.sent.clear();
  ASSERT_TRUE(agent_->Cancel(4).ok());
  Ack(5, 69);
  port_.Receive(
      Control({.type = RmppType::kAbort, .status = RmppStatus::kUnspecified}));
  timers_.RunFor(absl::Hours(1));
  EXPECT_THAT(port_.sent, IsEmpty());
  EXPECT_THAT(client_.done, ElementsAre(4));
  ExpectSilence();
}

TEST_F(CancelRmppTest, ARequestThatAwaitsItsAnswerEnds) {
  SendRequest(10);
  Ack(1, 1);
  ASSERT_TRUE(agent_->Cancel(4).ok());
  query_ = first_;
  port_.sent.clear();
  port_.Receive(Data(1, 1));
  timers_.RunFor(absl::Hours(1));
  EXPECT_THAT(port_.sent, IsEmpty());
  EXPECT_THAT(client_.done, ElementsAre(4));
  ExpectSilence();
}

TEST_F(CancelRmppTest, TheRestOfAnAnswerIsDropped) {
  Query(absl::Minutes(5));
  port_.Receive(Data(1, 3));
  ASSERT_TRUE(agent_->Cancel(4).ok());
  port_.sent.clear();
  for (uint32_t n = 1; n <= 3; ++n) port_.Receive(Data(n, 3));
  EXPECT_THAT(port_.sent, IsEmpty());
  ExpectSilence();

  // As after a timeout, what came of it is given up in its time.
  timers_.RunFor(absl::Seconds(40));
  ASSERT_THAT(port_.sent, SizeIs(1));
  EXPECT_EQ(AbortSent(), 118);
  EXPECT_TRUE(timers_.idle());
}

TEST_F(CancelRmppTest, AnotherTimeoutIsThatOfTheNextAckOrTheAnswer) {
  SendRequest(600, kTimeout, /*retries=*/1);
  ASSERT_TRUE(agent_->SetTimeout(4, kTimeout * 2).ok());
  SentSegments();
  timers_.RunFor(kTimeout * 2 - absl::Milliseconds(1));
  EXPECT_THAT(SentSegments(), IsEmpty());
  timers_.RunFor(absl::Milliseconds(1));
  EXPECT_THAT(SentSegments(), ElementsAre(1));

  Ack(1, 65);
  Ack(3, 65);
  ASSERT_TRUE(agent_->SetTimeout(4, absl::Minutes(1)).ok());
  timers_.RunFor(absl::Seconds(59));
  EXPECT_THAT(client_.timed_out, IsEmpty());
  timers_.RunFor(absl::Seconds(1));
  EXPECT_THAT(client_.timed_out, ElementsAre(4));
}

}  // namespace
}  // namespace ibemu::mad
