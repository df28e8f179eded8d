// A peer that does what no sane one does: RMPP holds on, and takes no more
// memory than the peer pays for.
#include "base/random.h"
#include "mad/rmpp_agent.h"
#include "tests/mad/rmpp_fixture.h"

namespace ibemu::mad {
namespace {

constexpr wire::Lid kHonest{9};
constexpr absl::Duration kTotalTime = absl::Seconds(40);
constexpr absl::Duration kRememberTime = absl::Seconds(10);

class HostilePeerTest : public RmppAgentTest {
 protected:
  // Segment `n` of the peer's request `tid`.
  static Arrival Request(uint64_t tid, uint32_t n, uint32_t segments,
                         wire::Lid from = kPeer) {
    MadHeader header = kSaQuery;
    header.method = Method::kGetMulti;
    header.tid = tid;
    MadBytes mad = MakeMad(header);
    SetRmpp(mad, {.type = RmppType::kData,
                  .last = n == segments,
                  .first = n == 1,
                  .segment = n,
                  .length_or_window = n == segments ? 220u : 0u});
    return From(from, mad);
  }

  // How many ACKs went out since the last call.
  size_t TakeAcks() {
    const auto is_ack = [](const Outgoing& packet) {
      return RmppOf(packet.mad).type == RmppType::kAck;
    };
    const auto acks =
        std::count_if(port_.sent.begin(), port_.sent.end(), is_ack);
    port_.sent.clear();
    return static_cast<size_t>(acks);
  }
};

TEST_F(HostilePeerTest, HasALimitOfMessagesOnTheirWayAndOnlyItself) {
  constexpr uint32_t kLimit = RmppAgent::kMaxFromPeer;
  for (uint64_t tid = 0; tid < kLimit + 1000; ++tid) {
    port_.Receive(Request(tid, 1, 3));
  }
  EXPECT_EQ(TakeAcks(), kLimit);

  port_.Receive(Request(0, 1, 3, kHonest));
  port_.Receive(Request(0, 2, 3, kHonest));
  port_.Receive(Request(0, 3, 3, kHonest));
  EXPECT_THAT(client_.inbox, SizeIs(1));

  // What began within the limit may end, and makes room for another one.
  client_.inbox.clear();
  port_.Receive(Request(5, 2, 3));
  port_.Receive(Request(5, 3, 3));
  EXPECT_THAT(client_.inbox, SizeIs(1));
  port_.sent.clear();
  port_.Receive(Request(kLimit + 1, 1, 3));
  port_.Receive(Request(kLimit + 2, 1, 3));
  EXPECT_EQ(TakeAcks(), 1u);
}

TEST_F(HostilePeerTest, LosesWhatItBeganAfterTheTotalTime) {
  constexpr uint32_t kLimit = RmppAgent::kMaxFromPeer;
  for (uint64_t tid = 0; tid < kLimit; ++tid) {
    port_.Receive(Request(tid, 1, 3));
  }
  port_.sent.clear();
  timers_.RunFor(kTotalTime);
  EXPECT_THAT(port_.sent, SizeIs(kLimit));
  EXPECT_EQ(AbortSent(), 118);
  EXPECT_TRUE(timers_.idle());

  port_.sent.clear();
  port_.Receive(Request(kLimit, 1, 3));
  EXPECT_EQ(TakeAcks(), 1u);
}

TEST_F(HostilePeerTest, OnlyTheNewestCompleteRequestsAreRemembered) {
  constexpr uint64_t kSome = 1000;
  constexpr uint64_t kAll = RmppAgent::kMaxRemembered + kSome;
  for (uint64_t tid = 0; tid < kAll; ++tid) port_.Receive(Request(tid, 1, 1));
  EXPECT_THAT(client_.inbox, SizeIs(kAll));
  EXPECT_EQ(TakeAcks(), kAll);

  // Repeats of those that are remembered get their ACK, and that is all.
  for (uint64_t tid = kSome; tid < kAll; ++tid) {
    port_.Receive(Request(tid, 1, 1));
  }
  EXPECT_EQ(TakeAcks(), RmppAgent::kMaxRemembered);
  EXPECT_THAT(client_.inbox, SizeIs(kAll));

  port_.Receive(Request(kSome - 1, 1, 1));
  EXPECT_THAT(client_.inbox, SizeIs(kAll + 1));
  timers_.RunFor(kRememberTime);
  EXPECT_TRUE(timers_.idle());
}

TEST_F(HostilePeerTest, AStormOfStopsAndAbortsEndsNothingElse) {
  SendRequest(600);
  port_.Receive(Request(5, 1, 2));
  port_.sent.clear();

  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    const bool stop = random.Chance(0.5);
    MadHeader header = HeaderOf(first_);
    header.method =
        random.Chance(0.5) ? Method::kGetMultiResp : Method::kGetMulti;
    header.tid = random.Chance(0.5) ? header.tid : random.Next();
    header.tid ^= 1 + random.Below(1000);
    MadBytes mad = MakeMad(header);
    SetRmpp(mad, {.type = stop ? RmppType::kStop : RmppType::kAbort,
                  .status = stop ? RmppStatus::kResourcesExhausted
                                 : RmppStatus(118 + random.Below(10)),
                  .segment = static_cast<uint32_t>(random.Next()),
                  .length_or_window = static_cast<uint32_t>(random.Next())});
    port_.Receive(From(kPeer, mad));
  }
  EXPECT_THAT(port_.sent, IsEmpty());
  EXPECT_THAT(client_.done, IsEmpty());

  Ack(1, 65);
  EXPECT_THAT(SentSegments(), ElementsAre(2, 3));
  port_.Receive(Request(5, 2, 2));
  EXPECT_THAT(client_.inbox, SizeIs(1));
}

TEST_F(HostilePeerTest, AnAbortOfADataSenderEndsNoReception) {
  Query();
  port_.Receive(Data(1, 3));
  Arrival abort = Data(2, 3);
  SetRmpp(abort.mad,
          {.type = RmppType::kAbort, .status = RmppStatus::kUnspecified});
  for (int i = 0; i < 100; ++i) port_.Receive(abort);
  port_.Receive(Data(2, 3));
  port_.Receive(Data(3, 3));
  EXPECT_THAT(client_.inbox, SizeIs(1));
}

TEST_F(HostilePeerTest, SegmentsFarBeyondTheWindowAreNotEvenAnswered) {
  Query();
  port_.Receive(Data(1, 0));
  port_.sent.clear();
  for (const uint32_t n : {66u, 1000u, 0x7fff'ffffu, 0xffff'ffffu}) {
    port_.Receive(Data(n, n));
    port_.Receive(Data(n, 0));
  }
  EXPECT_THAT(port_.sent, IsEmpty());
  ExpectSilence();
  for (uint32_t n = 2; n <= 3; ++n) port_.Receive(Data(n, 3));
  ASSERT_THAT(client_.inbox, SizeIs(1));
  EXPECT_THAT(client_.inbox[0].mad, SizeIs(kSaHeader + 600));
}

TEST_F(HostilePeerTest, TheEarliestLastFlagEndsTheMessage) {
  Query();
  port_.Receive(Data(1, 0));
  port_.Receive(Data(5, 5, 20 + 5));
  port_.Receive(Data(3, 3, 20 + 3));
  port_.Receive(Data(4, 4, 20 + 4));
  ExpectSilence();
  port_.Receive(Data(2, 0));
  ASSERT_THAT(client_.inbox, SizeIs(1));
  EXPECT_THAT(client_.inbox[0].mad, SizeIs(kSaHeader + 403));
  EXPECT_EQ(client_.inbox[0].mad.back(), std::byte{3});
}

TEST_F(HostilePeerTest, TheLengthOfTheLastSegmentCutsAtMostThatSegment) {
  const std::pair<uint32_t, size_t> lengths[] = {
      {0, 200 - 20}, {19, 200 - 1}, {20, 200},          {220, 400},
      {221, 400},    {440, 400},    {0x8000'0000, 400}, {0xffff'ffff, 400},
  };
  for (const auto& [length, data] : lengths) {
    client_.inbox.clear();
    Query();
    port_.Receive(Data(1, 2));
    port_.Receive(Data(2, 2, length));
    ASSERT_THAT(client_.inbox, SizeIs(1)) << length;
    EXPECT_THAT(client_.inbox[0].mad, SizeIs(kSaHeader + data)) << length;
  }
}

TEST_F(HostilePeerTest, AnAckOfEverythingAtOnceSendsTheMessageOnce) {
  SendRequest(60'000);
  port_.sent.clear();
  for (int i = 0; i < 10; ++i) Ack(1, 0xffff'ffff);
  EXPECT_THAT(port_.sent, SizeIs(256));  // others have their turn
  timers_.RunPending();
  EXPECT_THAT(port_.sent, SizeIs(299));
  timers_.RunPending();
  EXPECT_THAT(port_.sent, SizeIs(299));
}

}  // namespace
}  // namespace ibemu::mad
