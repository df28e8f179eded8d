#include "fabric/soft_hca/transport/unreliable_responder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/fabric/soft_hca/transport/responder_lab.h"
#include "verbs/wc_status.h"

namespace ibemu::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace wc_status = verbs::wc_status;

class UnreliableResponderTest : public ::testing::Test,
                                protected ResponderLab<UnreliableResponder> {
 protected:
  UnreliableResponderTest() : ResponderLab(verbs::QpType::kUc) {}
  ~UnreliableResponderTest() override {
    EXPECT_THAT(link.sent, IsEmpty()) << "it answers nothing";
  }

  // A message of three packets.
  static Transport LongSend(uint32_t psn, char c) {
    return Send(psn, std::string(3 * FakeLink::kMtu, c));
  }
};

TEST_F(UnreliableResponderTest, ReceivesAMessage) {
  link.Receive(1, 100, 50);

  Take(Send(Psn(0), "hello"));

  EXPECT_EQ(link.memory->Text(100, 5), "hello");
  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kSuccess));
}

TEST_F(UnreliableResponderTest, LosesAMessageThatLacksAPacket) {
  link.Receive(1, 0, 4096);
  const Transport broken = LongSend(Psn(0), 'a');
  Take(broken.Single(0));
  Take(broken.Single(2));
  EXPECT_THAT(link.Poll(), IsEmpty());

  Take(LongSend(Psn(3), 'b'));

  const auto completions = link.Poll();
  ASSERT_THAT(completions, SizeIs(1));
  EXPECT_EQ(completions[0].wr_id, 1u) << "the broken one gave it back";
  EXPECT_EQ(link.memory->Text(0, 2), "bb");
}

TEST_F(UnreliableResponderTest, BeginsAnewWithEachFirstPacket) {
  link.Receive(1, 0, 4096);
  Take(LongSend(Psn(0), 'a').Single(0));

  Take(LongSend(Psn(30), 'b'));

  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kSuccess));
  EXPECT_EQ(responder.expected_psn(), Psn(33));
}

TEST_F(UnreliableResponderTest, LosesAMessageWithoutAReceiveRequest) {
  Take(Send(Psn(0), "lost"));
  link.Receive(1, 0, 50);

  Take(Send(Psn(1), "hello"));

  EXPECT_EQ(link.memory->Text(0, 5), "hello");
  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kSuccess));
}

TEST_F(UnreliableResponderTest, KeepsAReceiveRequestThatIsTooShort) {
  link.Receive(1, 0, 4);

  Take(Send(Psn(0), "hello"));

  EXPECT_THAT(link.Poll(), IsEmpty());
  EXPECT_THAT(link.receives, SizeIs(1));
}

TEST_F(UnreliableResponderTest, EndsWithAReceiveRequestWithoutAccess) {
  link.Receive(1, 0, 50);
  link.receives[0].sges[0].lkey += 256;

  Take(Send(Psn(0), "hello"));

  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kLocalProtection));
  EXPECT_EQ(link.context.state, verbs::QpState::kError);
}

TEST_F(UnreliableResponderTest, LosesAWriteWithAWrongKey) {
  Transport message = Write(Psn(0), "hello", 0);
  message.key += 256;

  Take(message);
  Take(Write(Psn(1), "world", 0));

  EXPECT_EQ(link.memory->Text(0, 5), "world");
  EXPECT_EQ(link.context.state, verbs::QpState::kReadyToSend);
}

TEST_F(UnreliableResponderTest, LosesAWriteThatIsShorterThanItSaid) {
  Transport message = Write(Psn(0), "hello", 0);
  message.length += 1;

  Take(message);
  Take(Write(Psn(1), "world", 100));

  EXPECT_NE(link.memory->Text(0, 5), "hello");
  EXPECT_EQ(link.memory->Text(100, 5), "world");
}

TEST_F(UnreliableResponderTest, LosesWhatComesWhileTooMuchWaitsForMemory) {
  link.memory->SetDelay(absl::Microseconds(5));
  const std::string chunk(verbs::kChunk, 'x');
  constexpr uint32_t kPackets = verbs::kChunk / FakeLink::kMtu;
  constexpr uint32_t kMax = UnreliableResponder::kMaxWaiting / verbs::kChunk;
  for (uint32_t i = 0; i < kMax + 2; ++i) {
    Take(Write(Psn(i * kPackets), chunk, 0));
  }

  link.timers.RunFor(absl::Seconds(1));

  EXPECT_EQ(link.memory->most_waiting, UnreliableResponder::kMaxWaiting);
  EXPECT_EQ(link.memory->calls, static_cast<int>(kMax));
}

TEST_F(UnreliableResponderTest, CompletesNothingAfterAReset) {
  link.memory->SetDelay(absl::Microseconds(5));
  link.Receive(1, 0, 50);
  Take(Send(Psn(0), "hello"));

  Reset();
  link.timers.RunFor(absl::Seconds(1));

  EXPECT_THAT(link.Poll(), IsEmpty());
}

}  // namespace
}  // namespace ibemu::fabric
