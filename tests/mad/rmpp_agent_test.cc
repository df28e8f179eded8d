// RMPP between an agent and a peer that the test plays.
#include "mad/rmpp_agent.h"

#include "tests/mad/rmpp_fixture.h"

namespace ibemu::mad {
namespace {

// --- Sending.

// [rmpp_send_userhdr]
TEST_F(RmppAgentTest, TheUsersRmppHeaderIsReplaced) {
  SendRequest(10);
  ASSERT_THAT(port_.sent, SizeIs(1));
  EXPECT_EQ(LastSent(), (RmppHeader{.type = RmppType::kData,
                                    .resp_time = 0,
                                    .last = true,
                                    .first = true,
                                    .segment = 1,
                                    .length_or_window = 30}));
  EXPECT_EQ(HeaderOf(port_.sent[0].mad).tid,
            uint64_t{agent_->hi_tid()} << 32 | 0x77);
}

// [rmpp_send_userhdr]
TEST_F(RmppAgentTest, WithoutTheActiveFlagTheRmppHeaderIsCleared) {
  MadBytes mad = MakeMad(kSaQuery, 0x33);
  mad[26] = std::byte{0};
  ASSERT_TRUE(agent_->Send(MessageTo(kPeer, mad)).ok());
  for (size_t i = 24; i < 36; ++i) {
    EXPECT_EQ(port_.sent[0].mad[i], std::byte{0});
  }
  EXPECT_EQ(port_.sent[0].mad[36], std::byte{0x33});
}

// [rmpp_send_window]
TEST_F(RmppAgentTest, SendsAWindowPerAck) {
  SendRequest(200 * 6);
  EXPECT_THAT(SentSegments(), ElementsAre(1));
  Ack(1, 4);
  EXPECT_THAT(SentSegments(), ElementsAre(2, 3, 4));
  Ack(4, 68);
  EXPECT_THAT(SentSegments(), ElementsAre(5, 6));
}

// [rmpp_send_basic] [rmpp_resp_acked]
TEST_F(RmppAgentTest, AfterTheLastAckOfARequestItAcksTheAckAndAwaitsTheAnswer) {
  SendRequest(200 * 2);
  Ack(1, 65);
  Ack(2, 65);
  // Its method is the request's.
  EXPECT_THAT(port_.sent.back(), HasMethod(Method::kGetMulti));
  EXPECT_EQ(LastSent().type, RmppType::kAck);
  EXPECT_EQ(LastSent().segment, 0u);
  EXPECT_EQ(LastSent().length_or_window, 1u);

  timers_.RunFor(kTimeout - absl::Milliseconds(1));
  EXPECT_THAT(client_.timed_out, IsEmpty());
  timers_.RunFor(absl::Milliseconds(1));
  EXPECT_THAT(client_.timed_out, ElementsAre(4));
}

TEST_F(RmppAgentTest, ARepeatedLastAckIsAckedAgain) {
  SendRequest(10);
  Ack(1, 1);
  port_.sent.resize(1);
  Ack(1, 1);
  ASSERT_THAT(port_.sent, SizeIs(2));
  EXPECT_EQ(LastSent().type, RmppType::kAck);
}

// [rmpp_send_tmo0] [rmpp_resp_acked]
TEST_F(RmppAgentTest, WithoutTimeoutTheLastAckEndsTheSend) {
  SendAnswer(10);
  EXPECT_THAT(client_.done, IsEmpty());
  Ack(1, 1);
  EXPECT_THAT(client_.done, ElementsAre(4));
  EXPECT_THAT(port_.sent, SizeIs(1));  // no ACK of the ACK
  EXPECT_TRUE(timers_.idle());
}

// [rmpp_send_retransmit] [rmpp_send_retransmit_from_ack]
TEST_F(RmppAgentTest, ASegmentWithoutAckIsRepeatedAfterTheTimeout) {
  SendRequest(200 * 3, kTimeout, /*retries=*/1);
  Ack(1, 65);
  SentSegments();
  timers_.RunFor(kTimeout);
  EXPECT_THAT(SentSegments(), ElementsAre(2, 3));
  timers_.RunFor(kTimeout);
  EXPECT_THAT(SentSegments(), IsEmpty());
  EXPECT_THAT(client_.timed_out, ElementsAre(4));
}

// [rmpp_send_tmo0] [rmpp_resp_noack]
TEST_F(RmppAgentTest, SegmentsWaitTwoSecondsWhenTheTimeoutIsZeroOrLonger) {
  for (const absl::Duration timeout :
       {absl::ZeroDuration(), absl::Milliseconds(2001), absl::Hours(1)}) {
    client_.timed_out.clear();
    SendAnswer(10, timeout, /*retries=*/1);
    port_.sent.clear();
    timers_.RunFor(absl::Milliseconds(1999));
    EXPECT_THAT(port_.sent, IsEmpty());
    timers_.RunFor(absl::Milliseconds(1));
    EXPECT_THAT(port_.sent, SizeIs(1));
    // Even an answer without timeout ends with one.
    timers_.RunFor(absl::Seconds(2));
    EXPECT_THAT(client_.timed_out, ElementsAre(4));
  }
}

// [rmpp_send_stall_after_ack]
TEST_F(RmppAgentTest, AckedSegmentsRestartTheTimer) {
  SendRequest(200 * 10, kTimeout);
  timers_.RunFor(kTimeout * 0.6);
  Ack(1, 3);
  timers_.RunFor(kTimeout * 0.6);
  Ack(3, 9);
  timers_.RunFor(kTimeout * 0.6);
  EXPECT_THAT(client_.timed_out, IsEmpty());
  timers_.RunFor(kTimeout * 0.4);
  EXPECT_THAT(client_.timed_out, ElementsAre(4));
}

TEST_F(RmppAgentTest, TheAnswerEndsARequestThatIsNotFullyAcked) {
  SendRequest(200 * 10);
  query_ = port_.sent[0].mad;
  Arrival answer = Data(1, 1);
  wire::Put<&MadHeader::method>(answer.mad, Method::kGetMultiResp);
  port_.Receive(answer);
  EXPECT_THAT(client_.inbox, SizeIs(1));
  EXPECT_THAT(client_.done, ElementsAre(4));
  EXPECT_TRUE(timers_.idle());
}

TEST_F(RmppAgentTest, AnAckFromElsewhereDoesNotCountForAnAnswer) {
  SendAnswer(200 * 3);
  SentSegments();
  Arrival ack =
      Control({.type = RmppType::kAck, .segment = 1, .length_or_window = 65});
  ack.slid = wire::Lid{99};
  port_.Receive(ack);
  EXPECT_THAT(SentSegments(), IsEmpty());
  ack.slid = kPeer;
  port_.Receive(ack);
  EXPECT_THAT(SentSegments(), ElementsAre(2, 3));
}

class PeerErrorTest : public RmppAgentTest {
 protected:
  // What the peer of a send of three segments, the first of them on its way,
  // gets for `control`: an ABORT's status, or 0 for silence.  The user hears
  // nothing in any case.
  int AnswerTo(const RmppHeader& control) {
    SendRequest(200 * 3);
    port_.Receive(Control(control));
    const int status = port_.sent.size() == 1 ? 0 : AbortSent();
    timers_.RunFor(absl::Hours(1));
    ExpectSilence();
    EXPECT_THAT(client_.done, ElementsAre(4));
    client_.done.clear();
    port_.sent.clear();
    return status;
  }
};

// [rmpp_send_ctl_errors]
TEST_F(PeerErrorTest, AreAbortedWithTheirCode) {
  EXPECT_EQ(
      AnswerTo({.type = RmppType::kAck, .segment = 2, .length_or_window = 65}),
      123);
  EXPECT_EQ(
      AnswerTo({.type = RmppType::kAck, .segment = 1, .length_or_window = 0}),
      122);
  EXPECT_EQ(AnswerTo({.type = RmppType::kAck,
                      .status = RmppStatus{1},
                      .segment = 1,
                      .length_or_window = 65}),
            124);
  EXPECT_EQ(AnswerTo({.type = RmppType::kStop, .status = RmppStatus{2}}), 124);
  EXPECT_EQ(AnswerTo({.type = RmppType::kAbort, .status = RmppStatus{117}}),
            124);
  EXPECT_EQ(AnswerTo({.version = 2, .type = RmppType::kAck}), 125);
  EXPECT_EQ(AnswerTo({.type = RmppType{9}}), 121);
}

// [rmpp_send_ctl_errors]
TEST_F(PeerErrorTest, AProperStopOrAbortGetsNoAnswer) {
  EXPECT_EQ(AnswerTo({.type = RmppType::kStop,
                      .status = RmppStatus::kResourcesExhausted}),
            0);
  EXPECT_EQ(AnswerTo({.type = RmppType::kAbort,
                      .status = RmppStatus::kTotalTimeTooLong}),
            0);
  EXPECT_EQ(
      AnswerTo({.type = RmppType::kAbort, .status = RmppStatus::kUnspecified}),
      0);
}

TEST_F(RmppAgentTest, AnAbortAfterTheLastAckComesTooLate) {
  SendRequest(10);
  Ack(1, 1);
  port_.Receive(
      Control({.type = RmppType::kAbort, .status = RmppStatus::kUnspecified}));
  timers_.RunFor(kTimeout);
  EXPECT_THAT(client_.timed_out, ElementsAre(4));
}

// --- Receiving.

// [rmpp_recv_*]
TEST_F(RmppAgentTest, AcksWithTheHeaderOfTheDataAndTheOtherMethod) {
  Query();
  Arrival data = Data(1, 3);
  data.sl = 2;
  port_.Receive(data);
  ASSERT_THAT(port_.sent, SizeIs(1));
  const Outgoing& ack = port_.sent[0];
  EXPECT_EQ(ack.to.dlid, kPeer);
  EXPECT_EQ(ack.to.sl, 2);
  EXPECT_EQ(ack.to.qpn, 1u);
  MadHeader expected = HeaderOf(data.mad);
  expected.method = Method::kGetTable;
  EXPECT_EQ(HeaderOf(ack.mad), expected);
  EXPECT_EQ(RmppOf(ack.mad), (RmppHeader{.type = RmppType::kAck,
                                         .resp_time = 17,
                                         .segment = 1,
                                         .length_or_window = 65}));
  for (size_t i = kSaHeader; i < 256; ++i) {
    EXPECT_EQ(ack.mad[i], std::byte{0});
  }
}

// [rmpp_recv_basic] [rmpp_recv_dups]
TEST_F(RmppAgentTest, DeliversTheWholeAnswerOnce) {
  Query();
  for (uint32_t n = 1; n <= 3; ++n) port_.Receive(Data(n, 3, 20 + 50));
  ASSERT_THAT(client_.inbox, SizeIs(1));
  EXPECT_THAT(client_.done, ElementsAre(4));
  const std::vector<std::byte>& message = client_.inbox[0].mad;
  ASSERT_EQ(message.size(), kSaHeader + 200 + 200 + 50);
  EXPECT_EQ(message[kSaHeader], std::byte{1});
  EXPECT_EQ(message[kSaHeader + 399], std::byte{2});
  EXPECT_EQ(message.back(), std::byte{3});
  EXPECT_EQ(RmppOf(message).segment, 1u);
  EXPECT_EQ(client_.inbox[0].slid, kPeer);
  EXPECT_TRUE(timers_.idle());
}

// [rmpp_recv_single]
TEST_F(RmppAgentTest, ASingleSegmentResultIsShorterThanAMad) {
  Query();
  port_.Receive(Data(1, 1, 20 + 112));
  ASSERT_THAT(client_.inbox, SizeIs(1));
  EXPECT_THAT(client_.inbox[0].mad, SizeIs(kSaHeader + 112));
}

// [rmpp_recv_nomatch]
TEST_F(RmppAgentTest, AnswersWithoutRequestAreDroppedWithoutAWord) {
  Query();
  for (const uint32_t n : {1u, 2u}) {
    Arrival data = Data(n, 2);
    wire::Put<&MadHeader::tid>(data.mad, HeaderOf(data.mad).tid + 1);
    port_.Receive(data);
  }
  EXPECT_THAT(port_.sent, IsEmpty());
  ExpectSilence();

  // Also after the answer is complete: no ACK is repeated then.
  port_.Receive(Data(1, 1));
  port_.sent.clear();
  port_.Receive(Data(1, 1));
  EXPECT_THAT(port_.sent, IsEmpty());
  EXPECT_THAT(client_.inbox, SizeIs(1));
}

// [rmpp_recv_req_timeout]
TEST_F(RmppAgentTest, PartialDataDoNotRestartTheRequestsTimer) {
  Query();
  timers_.RunFor(kTimeout * 0.9);
  port_.Receive(Data(1, 3));
  timers_.RunFor(kTimeout * 0.1);
  EXPECT_THAT(client_.timed_out, ElementsAre(4));
  port_.sent.clear();
  port_.Receive(Data(2, 3));
  EXPECT_THAT(port_.sent, IsEmpty());
}

// [rmpp_recv_t2l]
TEST_F(RmppAgentTest, AMessageThatTakesFortySecondsIsAborted) {
  Query(absl::Minutes(5));
  port_.Receive(Data(1, 3));
  timers_.RunFor(absl::Seconds(39));
  port_.Receive(Data(2, 3));
  port_.sent.clear();
  timers_.RunFor(absl::Seconds(1));
  ASSERT_THAT(port_.sent, SizeIs(1));
  EXPECT_EQ(AbortSent(), 118);
  EXPECT_THAT(port_.sent[0], HasMethod(Method::kGetTable));

  port_.sent.clear();
  port_.Receive(Data(3, 3));
  EXPECT_THAT(port_.sent, IsEmpty());
  ExpectSilence();
}

// [rmpp_recv_*]
TEST_F(RmppAgentTest, AWrongFirstFlagIsAborted) {
  Query();
  Arrival data = Data(1, 3);
  data.mad[26] &= ~std::byte{2};
  port_.Receive(data);
  EXPECT_EQ(AbortSent(), 120);
  data = Data(2, 3);
  data.mad[26] |= std::byte{2};
  port_.Receive(data);
  EXPECT_EQ(AbortSent(), 120);
}

TEST_F(RmppAgentTest, DataInTheMiddleOfNothingAreDropped) {
  Query();
  port_.Receive(Data(2, 3));
  EXPECT_THAT(port_.sent, IsEmpty());
}

TEST_F(RmppAgentTest, APlainAnswerIsDeliveredAsItIs) {
  Query();
  Arrival answer = Data(1, 1);
  SetRmpp(answer.mad, {.version = 0, .resp_time = 0, .active = false});
  port_.Receive(answer);
  ASSERT_THAT(client_.inbox, SizeIs(1));
  EXPECT_EQ(client_.inbox[0].mad, ToVector(answer.mad));
}

class RmppServerTest : public RmppAgentTest {
 protected:
  RmppServerTest() { query_ = MakeMad(kSaQuery); }
  // Segment of a request in several ones.
  Arrival RequestData(uint32_t n, uint32_t segments) {
    Arrival data = Data(n, segments);
    wire::Put<&MadHeader::method>(data.mad, Method::kGetMulti);
    return data;
  }
};

TEST_F(RmppServerTest, ReceivesARequestOfSeveralSegments) {
  for (uint32_t n = 1; n <= 3; ++n) port_.Receive(RequestData(n, 3));
  ASSERT_THAT(client_.inbox, SizeIs(1));
  EXPECT_THAT(client_.inbox[0].mad, SizeIs(kSaHeader + 600));
  EXPECT_THAT(port_.sent.back(), HasMethod(Method::kGetMultiResp));
}

TEST_F(RmppServerTest, RepeatsTheLastAckOfARequestForTenSeconds) {
  for (uint32_t n = 1; n <= 2; ++n) port_.Receive(RequestData(n, 2));
  port_.sent.clear();
  timers_.RunFor(absl::Seconds(9));
  port_.Receive(RequestData(2, 2));
  EXPECT_THAT(SentSegments(), ElementsAre(2));
  timers_.RunFor(absl::Seconds(1));
  port_.Receive(RequestData(2, 2));
  EXPECT_THAT(port_.sent, IsEmpty());
  EXPECT_THAT(client_.inbox, SizeIs(1));
}

TEST_F(RmppServerTest, TheAckOfTheLastAckOpensTheWindowOfTheAnswer) {
  for (uint32_t n = 1; n <= 2; ++n) port_.Receive(RequestData(n, 2));
  Arrival turn = RequestData(1, 2);
  SetRmpp(turn.mad, {.type = RmppType::kAck, .length_or_window = 3});
  port_.Receive(turn);
  port_.sent.clear();

  MadHeader header = kSaQuery;
  header.method = Method::kGetMultiResp;
  ASSERT_TRUE(
      agent_->Send(Message(header, 200 * 9, absl::ZeroDuration())).ok());
  EXPECT_THAT(SentSegments(), ElementsAre(1, 2, 3));
}

TEST_F(RmppServerTest, TransfersOfTwoPeersDoNotMix) {
  Arrival from_other = RequestData(1, 2);
  from_other.slid = wire::Lid{9};
  port_.Receive(RequestData(1, 2));
  port_.Receive(from_other);
  port_.Receive(RequestData(2, 2));
  ASSERT_THAT(client_.inbox, SizeIs(1));
  EXPECT_EQ(client_.inbox[0].slid, kPeer);
}

// --- RMPP by the user, and agents without RMPP.

class UserRmppTest : public RmppAgentTest {
 protected:
  static Arrival Active(MadBytes mad) {
    SetRmpp(mad, {.type = RmppType::kData, .first = true, .segment = 1});
    return From(kPeer, mad);
  }
};

// [user_rmpp] [rv0_active] [rmpp_recv_unsolicited]
TEST_F(UserRmppTest, EachPacketIsAMadOfItsOwnAndNothingIsAcked) {
  for (const bool user_rmpp : {false, true}) {
    client_.inbox.clear();
    agent_.reset();
    Registration wanted = kSaAgent;
    wanted.rmpp_version = user_rmpp ? 1 : 0;
    wanted.user_rmpp = user_rmpp;
    agent_ = Register(wanted);

    const Arrival request = Active(MakeMad(kSaQuery));
    port_.Receive(request);
    ASSERT_THAT(client_.inbox, SizeIs(1));
    EXPECT_EQ(client_.inbox[0].mad, ToVector(request.mad));

    // An active answer needs no outstanding request, a plain one does.
    MadHeader header = kSaQuery;
    header.method = Method::kGetTableResp;
    header.tid |= uint64_t{agent_->hi_tid()} << 32;
    port_.Receive(Active(MakeMad(header)));
    EXPECT_THAT(client_.inbox, SizeIs(2));
    port_.Receive(From(kPeer, MakeMad(header)));
    EXPECT_THAT(client_.inbox, SizeIs(2));
    EXPECT_THAT(port_.sent, IsEmpty());
  }
}

// [user_rmpp] [tid_hi] [rmpp_resp_acked]
TEST_F(UserRmppTest, SendsTheUsersRmppHeaderAndRepeatsTids) {
  agent_.reset();
  Registration wanted = kSaAgent;
  wanted.user_rmpp = true;
  agent_ = Register(wanted);
  const OutgoingMessage message =
      MessageTo(kPeer, Active(MakeMad(kSaQuery)).mad, kTimeout);
  ASSERT_TRUE(agent_->Send(message).ok());
  ASSERT_TRUE(agent_->Send(message).ok());
  ASSERT_THAT(port_.sent, SizeIs(2));
  EXPECT_EQ(RmppOf(port_.sent[0].mad), RmppOf(message.mad));
  // A request method gets the agent's TID, also in an ACK.
  EXPECT_EQ(HeaderOf(port_.sent[0].mad).tid,
            uint64_t{agent_->hi_tid()} << 32 | 0x77);

  // A plain one of the same TID is a duplicate.
  EXPECT_FALSE(
      agent_->Send(MessageTo(kPeer, MakeMad(kSaQuery), kTimeout)).ok());
}

// [user_rmpp]
TEST_F(UserRmppTest, AMadIsAtMost256Bytes) {
  agent_.reset();
  Registration wanted = kSaAgent;
  wanted.user_rmpp = true;
  agent_ = Register(wanted);
  EXPECT_FALSE(agent_->Send(Message(kSaQuery, 201, kTimeout)).ok());
  EXPECT_TRUE(agent_->Send(Message(kSaQuery, 200, kTimeout)).ok());
}

}  // namespace
}  // namespace ibemu::mad
