#include "mad/rmpp_sender.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/mad_builder.h"
#include "tests/mad/rmpp_fixture.h"

namespace ibemu::mad {
namespace {

using ::ibemu::testing::RmppOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Step = RmppSender::Step;

// A message of class SA whose data count up.
std::vector<std::byte> Message(size_t data_bytes, size_t header = kSaHeader) {
  std::vector<std::byte> message(header + data_bytes);
  for (size_t i = 0; i < message.size(); ++i) message[i] = std::byte(i % 251);
  return message;
}

class RmppSenderTest : public ::testing::Test {
 protected:
  void Start(size_t data_bytes, int retries = 0, size_t header = kSaHeader) {
    sender_.emplace(Message(data_bytes, header), header, /*window=*/1, retries);
  }

  // The numbers of the segments that go out now.
  std::vector<uint32_t> Sent() {
    std::vector<uint32_t> numbers;
    while (sender_->NextSegment(mad_)) {
      numbers.push_back(RmppOf(mad_).segment);
    }
    return numbers;
  }
  RmppHeader Next() {
    EXPECT_TRUE(sender_->NextSegment(mad_));
    return RmppOf(mad_);
  }

  std::optional<RmppSender> sender_;
  MadBytes mad_{};
};

// [rmpp_send_lengths]
TEST_F(RmppSenderTest, AMessageWithoutDataIsOneSegment) {
  Start(0);
  EXPECT_EQ(Next(), (RmppHeader{.type = RmppType::kData,
                                .resp_time = 0,
                                .last = true,
                                .first = true,
                                .segment = 1,
                                .length_or_window = 20}));
  EXPECT_THAT(Sent(), IsEmpty());
}

// [rmpp_send_window]
TEST_F(RmppSenderTest, TheFirstSegmentGoesAloneThenTheWindowThatTheAckOpens) {
  Start(200 * 10);
  EXPECT_THAT(Sent(), ElementsAre(1));
  EXPECT_EQ(sender_->OnAck(1, 4), Step::kProgress);
  EXPECT_THAT(Sent(), ElementsAre(2, 3, 4));
  EXPECT_EQ(sender_->OnAck(4, 100), Step::kProgress);
  EXPECT_THAT(Sent(), ElementsAre(5, 6, 7, 8, 9, 10));
  EXPECT_EQ(sender_->OnAck(10, 100), Step::kAllAcknowledged);
}

// [rmpp_send_lengths]
TEST_F(RmppSenderTest, LengthsArePutIntoTheFirstAndTheLastSegment) {
  Start(200 * 2 + 50);
  EXPECT_EQ(Next().length_or_window, 3 * 220u - 150);
  ASSERT_EQ(sender_->OnAck(1, 65), Step::kProgress);
  EXPECT_EQ(Next().length_or_window, 0u);
  const RmppHeader last = Next();
  EXPECT_EQ(last.length_or_window, 220u - 150);
  EXPECT_TRUE(last.last);
  EXPECT_FALSE(last.first);
}

TEST_F(RmppSenderTest, AFullLastSegmentHasNoPad) {
  Start(200);
  EXPECT_EQ(Next().length_or_window, 220u);
  Start(201);
  EXPECT_EQ(Next().length_or_window, 440u - 199);
}

// [rmpp_send_vendor]
TEST_F(RmppSenderTest, VendorSegmentsHold216Bytes) {
  Start(216 * 2 + 1, 0, /*header=*/40);
  EXPECT_EQ(sender_->segments(), 3u);
  EXPECT_EQ(Next().length_or_window, 3 * 220u - 215);
}

TEST_F(RmppSenderTest, EachSegmentRepeatsTheHeaderAndThePadIsZero) {
  Start(250);
  const std::vector<std::byte> message = Message(250);
  Next();
  ASSERT_EQ(sender_->OnAck(1, 65), Step::kProgress);
  Next();
  EXPECT_TRUE(std::equal(mad_.begin(), mad_.begin() + 24, message.begin()));
  EXPECT_TRUE(std::equal(mad_.begin() + 36, mad_.begin() + kSaHeader,
                         message.begin() + 36));
  EXPECT_TRUE(std::equal(mad_.begin() + kSaHeader,
                         mad_.begin() + kSaHeader + 50,
                         message.begin() + kSaHeader + 200));
  for (size_t i = kSaHeader + 50; i < 256; ++i) {
    EXPECT_EQ(mad_[i], std::byte{0});
  }
}

// [rmpp_send_window]
TEST_F(RmppSenderTest, AnOldAckIsIgnored) {
  Start(200 * 10);
  Sent();
  ASSERT_EQ(sender_->OnAck(1, 5), Step::kProgress);
  ASSERT_THAT(Sent(), ElementsAre(2, 3, 4, 5));
  ASSERT_EQ(sender_->OnAck(3, 7), Step::kProgress);
  EXPECT_EQ(sender_->OnAck(2, 8), Step::kIgnore);  // segment went back
  EXPECT_EQ(sender_->OnAck(4, 6), Step::kIgnore);  // window went back
  EXPECT_EQ(sender_->OnAck(3, 7), Step::kIgnore);  // the same again
  EXPECT_THAT(Sent(), ElementsAre(6, 7));
}

// [rmpp_send_retransmit]
TEST_F(RmppSenderTest, ATimeoutSendsAgainFromTheFirstSegmentWithoutAck) {
  Start(200 * 10, /*retries=*/1);
  Sent();
  sender_->OnAck(1, 5);
  Sent();
  sender_->OnAck(3, 5);
  EXPECT_TRUE(sender_->OnTimeout());
  EXPECT_THAT(Sent(), ElementsAre(4, 5));
  EXPECT_FALSE(sender_->OnTimeout());
}

TEST_F(RmppSenderTest, ProgressGivesTheRetriesBack) {
  Start(200 * 3, /*retries=*/1);
  Sent();
  EXPECT_TRUE(sender_->OnTimeout());
  Sent();
  sender_->OnAck(1, 65);
  Sent();
  EXPECT_TRUE(sender_->OnTimeout());
  EXPECT_THAT(Sent(), ElementsAre(2, 3));
  EXPECT_FALSE(sender_->OnTimeout());
}

TEST_F(RmppSenderTest, ALateAckOvertakesTheRepetition) {
  Start(200 * 4, /*retries=*/1);
  Sent();
  sender_->OnAck(1, 65);
  Sent();
  ASSERT_TRUE(sender_->OnTimeout());
  EXPECT_EQ(sender_->OnAck(3, 65), Step::kProgress);
  EXPECT_THAT(Sent(), ElementsAre(4));
}

TEST_F(RmppSenderTest, AfterTheLastAckThereIsNothingToTimeOut) {
  Start(10, /*retries=*/5);
  Sent();
  ASSERT_EQ(sender_->OnAck(1, 1), Step::kAllAcknowledged);
  EXPECT_FALSE(sender_->OnTimeout());
  EXPECT_EQ(sender_->OnAck(1, 1), Step::kRepeatedAck);
}

TEST_F(RmppSenderTest, AnAckOfWhatWasNotSentIsAnError) {
  Start(200 * 3);
  Sent();
  EXPECT_EQ(sender_->OnAck(2, 65), Step::kSegmentTooBig);
  sender_->OnAck(1, 65);
  Sent();
  EXPECT_EQ(sender_->OnAck(4, 65), Step::kSegmentTooBig);
}

TEST_F(RmppSenderTest, ChecksWhatThePeerSends) {
  const auto check = [](RmppHeader header) {
    return RmppSender::Check(header);
  };
  EXPECT_EQ(
      check({.type = RmppType::kAck, .segment = 3, .length_or_window = 3}),
      std::nullopt);
  EXPECT_EQ(
      check({.type = RmppType::kAck, .segment = 3, .length_or_window = 2}),
      RmppStatus::kNewWindowTooSmall);
  EXPECT_EQ(check({.type = RmppType::kAck, .status = RmppStatus{1}}),
            RmppStatus::kIllegalStatus);
  EXPECT_EQ(check({.type = RmppType::kStop,
                   .status = RmppStatus::kResourcesExhausted}),
            std::nullopt);
  EXPECT_EQ(check({.type = RmppType::kStop}), RmppStatus::kIllegalStatus);
  for (int status = 0; status < 256; ++status) {
    const bool legal = status >= 118 && status <= 127;
    EXPECT_EQ(check({.type = RmppType::kAbort, .status = RmppStatus(status)}),
              legal ? std::nullopt : std::optional(RmppStatus::kIllegalStatus));
  }
  EXPECT_EQ(check({.version = 2, .type = RmppType::kAck}),
            RmppStatus::kUnsupportedVersion);
  EXPECT_EQ(check({.type = RmppType{5}}), RmppStatus::kBadType);
  EXPECT_EQ(check({.type = RmppType::kNone}), RmppStatus::kBadType);
}

}  // namespace
}  // namespace ibemu::mad
