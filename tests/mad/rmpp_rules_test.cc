// Single rules of Linux's kernel RMPP, at their limits.  In brackets: the case
// that recorded the rule from Linux.
#include "tests/mad/rmpp_fixture.h"

namespace ibemu::mad {
namespace {

class RmppRulesTest : public RmppAgentTest {
 protected:
  void ExpectTurnAck(Method method) {
    EXPECT_THAT(port_.sent.back(), HasMethod(method));
    EXPECT_EQ(LastSent().type, RmppType::kAck);
    EXPECT_EQ(LastSent().segment, 0u);
    EXPECT_EQ(LastSent().length_or_window, 1u);
  }
};

// [rmpp_send_lengths] [rmpp_send_vendor]
TEST_F(RmppRulesTest, TheClassSaysHowMuchASegmentHolds) {
  const std::pair<MgmtClass, size_t> payloads[] = {
      {MgmtClass::kSubnetAdministration, 200}, {MgmtClass::kDevice, 192},
      {MgmtClass::kDeviceAdministration, 192}, {MgmtClass::kBis, 192},
      {MgmtClass::kVendor2First, 216},         {MgmtClass::kVendor2Last, 216}};
  for (const auto& [mgmt_class, payload] : payloads) {
    MadHeader header = kSaQuery;
    header.mgmt_class = mgmt_class;
    MadBytes head = MakeMad(header);
    SetRmpp(head, {.type = RmppType::kData});
    OutgoingMessage message = MessageTo(kPeer, head, kTimeout);
    message.mad.resize(HeaderBytes(mgmt_class) + 2 * payload);
    Send(message);
    EXPECT_EQ(LastSent().length_or_window, 440u);
    EXPECT_FALSE(LastSent().last);

    message.mad.push_back(std::byte{});
    wire::Put<&MadHeader::tid>(message.mad, uint64_t{1});
    Send(message);
    EXPECT_EQ(LastSent().length_or_window, 660u - (payload - 1));
  }
}

// [rmpp_send_basic]
TEST_F(RmppRulesTest, AMessageWithoutDataIsOneSegmentOfItsHeader) {
  SendRequest(0);
  EXPECT_TRUE(LastSent().first);
  EXPECT_TRUE(LastSent().last);
  EXPECT_EQ(LastSent().length_or_window, 20u);
}

// [rmpp_send_retransmit]
TEST_F(RmppRulesTest, ASegmentWaitsAsLongAsTheUserSaysUpToTwoSeconds) {
  for (const int milliseconds : {1, 1999, 2000}) {
    const absl::Duration wait = absl::Milliseconds(milliseconds);
    SendAnswer(10, wait, /*retries=*/1);
    port_.sent.clear();
    timers_.RunFor(wait - absl::Microseconds(1));
    EXPECT_THAT(port_.sent, IsEmpty());
    timers_.RunFor(absl::Microseconds(1));
    EXPECT_THAT(port_.sent, SizeIs(1));
    timers_.RunFor(wait);
  }
  EXPECT_THAT(client_.timed_out, SizeIs(3));
}

// Not as in [rmpp_send_stall_after_ack], which is a bug.
TEST_F(RmppRulesTest, AfterTheFirstAckSegmentsAreRepeatedToo) {
  SendRequest(600, absl::Seconds(1), /*retries=*/2);
  Ack(1, 65);
  SentSegments();
  for (int i = 0; i < 2; ++i) {
    timers_.RunFor(absl::Seconds(1));
    EXPECT_THAT(SentSegments(), ElementsAre(2, 3));
  }
  timers_.RunFor(absl::Seconds(1));
  EXPECT_THAT(client_.timed_out, ElementsAre(4));
}

// [rmpp_send_basic] [rmpp_resp_acked]
TEST_F(RmppRulesTest, TheAnswerMayTakeLongerThanAnAck) {
  SendRequest(10, absl::Seconds(30));
  timers_.RunFor(absl::Milliseconds(1999));
  Ack(1, 1);
  timers_.RunFor(absl::Seconds(30) - absl::Milliseconds(1));
  EXPECT_THAT(client_.timed_out, IsEmpty());
  timers_.RunFor(absl::Milliseconds(1));
  EXPECT_THAT(client_.timed_out, ElementsAre(4));
}

// Derived: ib_retry_rmpp().
TEST_F(RmppRulesTest, AnAwaitedAnswerIsNotAskedForAgain) {
  SendRequest(10, kTimeout, /*retries=*/5);
  Ack(1, 1);
  port_.sent.clear();
  timers_.RunFor(kTimeout);
  EXPECT_THAT(port_.sent, IsEmpty());
  EXPECT_THAT(client_.timed_out, ElementsAre(4));
}

// [rmpp_send_tmo0]
TEST_F(RmppRulesTest, ARequestWithoutTimeoutEndsWithItsLastAck) {
  SendRequest(10, absl::ZeroDuration());
  Ack(1, 1);
  EXPECT_THAT(client_.done, ElementsAre(4));
  EXPECT_THAT(port_.sent, SizeIs(1));  // no ACK of the ACK
  EXPECT_TRUE(timers_.idle());
}

// [dup_response]
TEST_F(RmppRulesTest, AnAnswerWithATimeoutExpectsOneItself) {
  SendAnswer(10, kTimeout);
  Ack(1, 1);
  ExpectTurnAck(Method::kGetTableResp);
  timers_.RunFor(kTimeout);
  EXPECT_THAT(client_.timed_out, ElementsAre(4));
}

// [rmpp_recv_*]
TEST_F(RmppRulesTest, WhatIsWrongWithASegmentDoesNotEndItsMessage) {
  Query();
  port_.Receive(Data(1, 3));
  const auto refused = [this](uint32_t n, RmppHeader wrong) {
    Arrival data = Data(n, 3);
    SetRmpp(data.mad, wrong);
    port_.Receive(data);
    EXPECT_THAT(port_.sent.back(), HasMethod(Method::kGetTable));
    return AbortSent();
  };
  EXPECT_EQ(refused(2, {.version = 2, .type = RmppType::kData, .segment = 2}),
            125);
  EXPECT_EQ(
      refused(2,
              {.type = RmppType::kData, .status = RmppStatus{1}, .segment = 2}),
      124);
  EXPECT_EQ(refused(2, {.type = RmppType::kData, .first = true, .segment = 2}),
            120);
  EXPECT_EQ(refused(2, {.type = RmppType::kNone, .segment = 2}), 121);
  EXPECT_EQ(refused(2, {.type = RmppType{5}, .segment = 2}), 121);
  ExpectSilence();

  port_.Receive(Data(2, 3));
  port_.Receive(Data(3, 3));
  EXPECT_THAT(client_.inbox, SizeIs(1));
}

// [rmpp_recv_dups]
TEST_F(RmppRulesTest, ARepeatedFirstSegmentGetsTheAckOfWhatIsThere) {
  Query();
  for (uint32_t n = 1; n <= 3; ++n) port_.Receive(Data(n, 9));
  port_.Receive(Data(1, 9));
  EXPECT_EQ(LastSent().segment, 3u);
  EXPECT_EQ(LastSent().length_or_window, 65u);
}

// [rmpp_recv_t2l]
TEST_F(RmppRulesTest, TheTotalTimeBeginsWithTheFirstSegment) {
  Query(absl::Minutes(5));
  timers_.RunFor(absl::Seconds(30));
  port_.Receive(Data(1, 3));
  timers_.RunFor(absl::Seconds(39));
  port_.Receive(Data(2, 3));
  port_.Receive(Data(3, 3));
  EXPECT_THAT(client_.inbox, SizeIs(1));
  port_.sent.clear();
  timers_.RunFor(absl::Minutes(5));
  EXPECT_THAT(port_.sent, IsEmpty());
}

// [rmpp_recv_nomatch]
TEST_F(RmppRulesTest, AnswersWithoutTheirRequestAreDroppedWhateverIsWrong) {
  Query();
  for (const RmppHeader& wrong :
       {RmppHeader{.version = 2, .type = RmppType::kData, .segment = 1},
        RmppHeader{.type = RmppType::kData,
        .first = true,
        .status = RmppStatus{1},
        .segment = 1},
        RmppHeader{.type = RmppType::kData, .segment = 1}}) {
    Arrival data = Data(1, 1);
    wire::Put<&MadHeader::tid>(data.mad, HeaderOf(data.mad).tid + 1);
    SetRmpp(data.mad, wrong);
    port_.Receive(data);
  }
  EXPECT_THAT(port_.sent, IsEmpty());
}

}  // namespace
}  // namespace ibemu::mad
