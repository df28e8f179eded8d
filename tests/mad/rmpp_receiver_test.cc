#include "mad/rmpp_receiver.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/mad_builder.h"
#include "tests/mad/rmpp_fixture.h"

namespace ibemu::mad {
namespace {

using ::ibemu::testing::SetRmpp;

class RmppReceiverTest : public ::testing::Test {
 protected:
  // Segment `n`, all of its data n, of a message of `segments`.
  RmppReceiver::Outcome Receive(uint32_t n, uint32_t segments,
                                uint32_t last_length = 220) {
    MadBytes mad;
    mad.fill(std::byte(n));
    const RmppHeader header{.type = RmppType::kData,
                            .last = n == segments,
                            .first = n == 1,
                            .segment = n,
                            .length_or_window = n == segments ? last_length
                                                : n == 1      ? announced_
                                                              : 0};
    SetRmpp(mad, header);
    return receiver_.OnData(header, mad);
  }

  uint32_t announced_ = 0;  // by the first segment
  RmppReceiver receiver_{kSaHeader};
};

MATCHER_P2(Acks, segment, window, "") {
  return arg.reply == RmppHeader{.type = RmppType::kAck,
                                 .segment = uint32_t(segment),
                                 .length_or_window = uint32_t(window)};
}
MATCHER(SaysNothing, "") { return !arg.reply && !arg.complete; }

// [rmpp_recv_*]
TEST_F(RmppReceiverTest, TheFirstAckOpensAWindowOf64More) {
  EXPECT_THAT(Receive(1, 500), Acks(1, 65));
}

// [rmpp_recv_single]
TEST_F(RmppReceiverTest, ASingleSegmentIsCompleteAtOnce) {
  const auto outcome = Receive(1, 1);
  EXPECT_THAT(outcome, Acks(1, 1));
  EXPECT_TRUE(outcome.complete);
  EXPECT_EQ(receiver_.TakeMessage().size(), 256u);
}

TEST_F(RmppReceiverTest, MegabytesArriveWhateverWasAnnounced) {
  constexpr uint32_t kSegments = 12'000;
  for (const uint32_t announced : {0u, kSegments * 220, 0xffffffffu}) {
    receiver_ = RmppReceiver(kSaHeader);
    announced_ = announced;
    for (uint32_t n = 1; n <= kSegments; ++n) Receive(n, kSegments);
    ASSERT_TRUE(receiver_.complete());
    const std::vector<std::byte> message = receiver_.TakeMessage();
    ASSERT_EQ(message.size(), kSaHeader + kSegments * 200);
    for (uint32_t n = 1; n <= kSegments; ++n) {
      ASSERT_EQ(message[kSaHeader + (n - 1) * 200], std::byte(n));
    }
  }
}

// [rmpp_recv_*]
TEST_F(RmppReceiverTest, AcksAtTheEndOfEachWindowAndAtTheEnd) {
  EXPECT_THAT(Receive(1, 140), Acks(1, 65));
  for (uint32_t n = 2; n < 65; ++n) EXPECT_THAT(Receive(n, 140), SaysNothing());
  EXPECT_THAT(Receive(65, 140), Acks(65, 129));
  for (uint32_t n = 66; n < 129; ++n) Receive(n, 140);
  EXPECT_THAT(Receive(129, 140), Acks(129, 193));
  for (uint32_t n = 130; n < 140; ++n) Receive(n, 140);
  const auto outcome = Receive(140, 140);
  EXPECT_THAT(outcome, Acks(140, 193));
  EXPECT_TRUE(outcome.complete);
  EXPECT_EQ(receiver_.TakeMessage().size(), kSaHeader + 140 * 200);
}

TEST_F(RmppReceiverTest, AMessageThatEndsAtAWindowsEndIsComplete) {
  for (uint32_t n = 1; n < 65; ++n) Receive(n, 65);
  const auto outcome = Receive(65, 65);
  EXPECT_THAT(outcome, Acks(65, 65));
  EXPECT_TRUE(outcome.complete);
}

// [rmpp_recv_dups]
TEST_F(RmppReceiverTest, RepeatsTheAckWhenASegmentComesTwice) {
  Receive(1, 9);
  EXPECT_THAT(Receive(1, 9), Acks(1, 65));
  Receive(2, 9);
  EXPECT_THAT(Receive(1, 9), Acks(2, 65));
  EXPECT_THAT(Receive(2, 9), Acks(2, 65));
}

TEST_F(RmppReceiverTest, DropsASecondCopyOfASegmentWithoutAckYet) {
  Receive(1, 9);
  Receive(2, 9);
  EXPECT_THAT(Receive(2, 9), SaysNothing());
  Receive(5, 9);
  EXPECT_THAT(Receive(5, 9), SaysNothing());
}

// [rmpp_recv_*]
TEST_F(RmppReceiverTest, KeepsSegmentsThatComeOutOfOrder) {
  Receive(1, 5);
  EXPECT_THAT(Receive(5, 5, 120), SaysNothing());
  EXPECT_THAT(Receive(3, 5), SaysNothing());
  EXPECT_THAT(Receive(4, 5), SaysNothing());
  const auto outcome = Receive(2, 5);
  EXPECT_THAT(outcome, Acks(5, 65));
  EXPECT_TRUE(outcome.complete);

  const std::vector<std::byte> message = receiver_.TakeMessage();
  ASSERT_EQ(message.size(), kSaHeader + 4 * 200 + 100);
  for (uint32_t n = 1; n <= 5; ++n) {
    EXPECT_EQ(message[kSaHeader + (n - 1) * 200], std::byte(n));
  }
}

TEST_F(RmppReceiverTest, OpensTheNextWindowWhenTheGapBeforeItsEndCloses) {
  Receive(1, 500);
  for (uint32_t n = 3; n <= 65; ++n) Receive(n, 500);
  EXPECT_THAT(Receive(2, 500), Acks(65, 129));
}

// [rmpp_recv_*]
TEST_F(RmppReceiverTest, DropsWhatIsBeyondTheWindow) {
  EXPECT_THAT(Receive(2, 500), SaysNothing());
  Receive(1, 500);
  EXPECT_THAT(Receive(66, 500), SaysNothing());
  EXPECT_THAT(Receive(0xffffffff, 500), SaysNothing());
  for (uint32_t n = 2; n < 65; ++n) Receive(n, 500);
  EXPECT_THAT(Receive(65, 500), Acks(65, 129));
  EXPECT_THAT(Receive(66, 500), SaysNothing());  // now it is new
}

TEST_F(RmppReceiverTest, RepeatsTheLastAckWhenComplete) {
  Receive(1, 2);
  Receive(2, 2);
  EXPECT_THAT(Receive(2, 2), Acks(2, 65));
  EXPECT_THAT(Receive(1, 2), Acks(2, 65));
  EXPECT_FALSE(Receive(2, 2).complete);
}

TEST_F(RmppReceiverTest, TheLastLengthShortensTheMessage) {
  Receive(1, 1, 20 + 7);
  EXPECT_EQ(receiver_.TakeMessage().size(), kSaHeader + 7);
}

TEST_F(RmppReceiverTest, ALengthBelowTheHeaderCutsTheHeader) {
  Receive(1, 1, 0);
  EXPECT_EQ(receiver_.TakeMessage().size(), 36u);
}

// [rmpp_recv_basic]
TEST_F(RmppReceiverTest, ALengthAbove220MeansNoPad) {
  Receive(1, 2);
  Receive(2, 2, 221);
  EXPECT_EQ(receiver_.TakeMessage().size(), kSaHeader + 400);
}

TEST_F(RmppReceiverTest, AnAnnouncedLengthTakesNoMemory) {
  MadBytes mad{};
  RmppHeader header{.type = RmppType::kData,
                    .first = true,
                    .segment = 1,
                    .length_or_window = 0xffffffff};
  EXPECT_THAT(receiver_.OnData(header, mad), Acks(1, 65));
  EXPECT_LE(receiver_.capacity(), 256u);

  // Eight times what arrived, at most, or one window with gaps.
  header.first = false;
  for (header.segment = 2; header.segment < 1000; ++header.segment) {
    receiver_.OnData(header, mad);
    EXPECT_LE(receiver_.capacity(), 8 * (kSaHeader + header.segment * 200));
  }
}

TEST_F(RmppReceiverTest, AGapTakesTheMemoryOfAWindow) {
  Receive(1, 0);
  Receive(65, 0);
  EXPECT_LE(receiver_.capacity(), kSaHeader + 13'000);
  Receive(66, 0);
  Receive(0xffffffff, 0);
  EXPECT_LE(receiver_.capacity(), kSaHeader + 13'000);
}

TEST_F(RmppReceiverTest, TheFirstFlagBelongsToSegmentOne) {
  const auto check = [](uint32_t segment, bool first) {
    return RmppReceiver::Check(
        {.type = RmppType::kData, .first = first, .segment = segment});
  };
  EXPECT_EQ(check(1, true), std::nullopt);
  EXPECT_EQ(check(2, false), std::nullopt);
  EXPECT_EQ(check(1, false), RmppStatus::kInconsistentFirst);
  EXPECT_EQ(check(2, true), RmppStatus::kInconsistentFirst);
  EXPECT_EQ(check(0, true), RmppStatus::kInconsistentFirst);
}

TEST_F(RmppReceiverTest, DataHaveStatusZero) {
  EXPECT_EQ(RmppReceiver::Check({.type = RmppType::kData,
                                 .first = true,
                                 .status = RmppStatus{1},
                                 .segment = 1}),
            RmppStatus::kIllegalStatus);
}

}  // namespace
}  // namespace ibemu::mad
