#include "fabric/soft_hca/transport/reliable_responder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/fabric/soft_hca/transport/responder_lab.h"
#include "verbs/wc_status.h"

namespace ibemu::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Syndrome = Transport::Syndrome;
using AsyncEventType = verbs::AsyncEventType;

namespace wc_status = verbs::wc_status;

class ReliableResponderTest : public ::testing::Test,
                              protected ResponderLab<ReliableResponder> {
 protected:
  ReliableResponderTest() : ResponderLab(verbs::QpType::kRc) {}

  // A region at address 0 whose memory is not there.
  std::unique_ptr<verbs::MemoryRegion> RegisterBeyond() {
    return *verbs::MemoryRegion::Register(
        link.keys, {.pd = &link.pd,
                    .memory = link.memory,
                    .start = FakeLink::kStart + FakeLink::kSize,
                    .length = 4096,
                    .address = 0,
                    .access = FakeLink::kAll});
  }

  // Expects that a single acknowledgement was sent.
  void ExpectAnswer(Syndrome syndrome, uint32_t psn) {
    const std::vector<Transport> sent = link.TakeSent();
    ASSERT_THAT(sent, SizeIs(1));
    EXPECT_EQ(sent[0].operation, Transport::Operation::kAcknowledge);
    EXPECT_EQ(sent[0].syndrome, syndrome);
    EXPECT_EQ(sent[0].psn, psn);
  }
  // Expects that a NAK with `psn` has ended the connection, and that `event`
  // told of it.
  void ExpectRefusal(Syndrome syndrome, uint32_t psn,
                     verbs::AsyncEventType event) {
    ExpectAnswer(syndrome, psn);
    EXPECT_EQ(link.context.state, verbs::QpState::kError);
    EXPECT_THAT(link.events, ElementsAre(event));
  }
};

TEST_F(ReliableResponderTest, TellsItsQueuePairOfALostCompletion) {
  ASSERT_TRUE(link.cq.Resize(1).ok());
  for (uint32_t i = 0; i < 2; ++i) {
    link.Receive(i, 0, 10);
    Take(Send(Psn(i), "hello"));
    link.timers.RunPending();
    EXPECT_EQ(link.lost_completions, static_cast<int>(i));
  }
}

TEST_F(ReliableResponderTest, AcknowledgesAMessageThatIsInMemory) {
  link.memory->SetDelay(absl::Microseconds(5));
  link.Receive(7, 100, 50);
  Transport message = Send(Psn(0), "hello");
  message.has_immediate = true;
  message.immediate = 77;

  Take(message);
  EXPECT_THAT(link.TakeSent(), IsEmpty());
  link.timers.RunFor(absl::Microseconds(5));

  ExpectAnswer(Syndrome::kAck, Psn(0));
  EXPECT_EQ(link.memory->Text(100, 5), "hello");
  const auto completions = link.Poll();
  ASSERT_THAT(completions, SizeIs(1));
  EXPECT_EQ(completions[0].wr_id, 7u);
  EXPECT_EQ(completions[0].byte_len, 5u);
  EXPECT_EQ(completions[0].ex.imm_data, 77u);
  EXPECT_EQ(completions[0].src_qp, 0x22u);
}

TEST_F(ReliableResponderTest, AsksOnceForAPacketThatIsMissing) {
  for (uint64_t id = 0; id < 3; ++id) link.Receive(id, 0, 50);

  Take(Send(Psn(1), "b"));
  ExpectAnswer(Syndrome::kSequenceError, Psn(0));
  Take(Send(Psn(2), "c"));
  EXPECT_THAT(link.TakeSent(), IsEmpty());
  Take(Send(Psn(0), "a"));
  ExpectAnswer(Syndrome::kAck, Psn(0));
  Take(Send(Psn(2), "c"));
  ExpectAnswer(Syndrome::kSequenceError, Psn(1));

  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kSuccess));
}

TEST_F(ReliableResponderTest, AcknowledgesADuplicateWithoutReceivingIt) {
  link.Receive(1, 0, 50);
  link.Receive(2, 100, 50);
  Take(Send(Psn(0), "first"));
  link.TakeSent();

  Take(Send(Psn(0), "again"));

  ExpectAnswer(Syndrome::kAck, Psn(0));
  EXPECT_EQ(link.memory->Text(0, 5), "first");
  EXPECT_THAT(link.receives, SizeIs(1));
}

TEST_F(ReliableResponderTest, ReceivesTheNewPacketsOfARepeatedMessage) {
  link.Receive(1, 0, 4096);
  const std::string text =
      std::string(FakeLink::kMtu, 'a') + std::string(FakeLink::kMtu, 'b');
  const Transport message = Send(Psn(0), text);
  Take(message.Single(0));

  Take(message);

  EXPECT_EQ(link.memory->Text(0, text.size()), text);
  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kSuccess));
  EXPECT_EQ(responder.expected_psn(), Psn(2));
}

TEST_F(ReliableResponderTest, AsksForTimeWhenThereIsNoReceiveRequest) {
  Take(Send(Psn(0), "hello"));

  const std::vector<Transport> sent = link.TakeSent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].syndrome, Syndrome::kRnrNak);
  EXPECT_EQ(sent[0].psn, Psn(0));
  EXPECT_EQ(sent[0].rnr_timer, 12);
  Take(Send(Psn(1), "next"));
  EXPECT_THAT(link.TakeSent(), IsEmpty()) << "the RNR NAK explains the gap";
  link.Receive(1, 0, 50);
  Take(Send(Psn(0), "hello"));
  ExpectAnswer(Syndrome::kAck, Psn(0));
}

TEST_F(ReliableResponderTest, WritesWhereAKeyAllowsIt) {
  Take(Write(Psn(0), "hello", 200));

  ExpectAnswer(Syndrome::kAck, Psn(0));
  EXPECT_EQ(link.memory->Text(200, 5), "hello");
  EXPECT_THAT(link.Poll(), IsEmpty());
}

TEST_F(ReliableResponderTest, RefusesAWriteWithAWrongKey) {
  Transport message = Write(Psn(0), "hello", 200);
  message.key += 256;

  Take(message);

  ExpectRefusal(Syndrome::kAccessError, Psn(0), AsyncEventType::kQpAccessError);
}

TEST_F(ReliableResponderTest, RefusesAWriteBeyondTheRegion) {
  Take(Write(Psn(0), "hello", FakeLink::kSize - 4));

  ExpectRefusal(Syndrome::kAccessError, Psn(0), AsyncEventType::kQpAccessError);
}

TEST_F(ReliableResponderTest, RefusesAWriteThatTheRegionDoesNotAllow) {
  link.mr = link.Register(verbs::access::kLocalWrite);

  Take(Write(Psn(0), "hello", 200));

  ExpectRefusal(Syndrome::kAccessError, Psn(0), AsyncEventType::kQpAccessError);
}

TEST_F(ReliableResponderTest, RefusesAWriteThatTheQueuePairDoesNotAllow) {
  link.context.attributes.qp_access_flags = verbs::access::kRemoteRead;

  Take(Write(Psn(0), "hello", 200));

  ExpectRefusal(Syndrome::kAccessError, Psn(0), AsyncEventType::kQpAccessError);
}

TEST_F(ReliableResponderTest, RefusesTheRestOfAWriteWhoseKeyHasGone) {
  const Transport message =
      Write(Psn(0), std::string(2 * FakeLink::kMtu, 'x'), 0);
  Take(message.Single(0));
  link.mr = nullptr;

  Take(message.Single(1));

  ExpectRefusal(Syndrome::kAccessError, Psn(1), AsyncEventType::kQpAccessError);
}

TEST_F(ReliableResponderTest, RefusesAWriteThatIsLongerThanItSaid) {
  Transport message = Write(Psn(0), "hello", 200);
  message.length = 4;

  Take(message);

  ExpectRefusal(Syndrome::kInvalidRequest, Psn(0),
                AsyncEventType::kQpAccessError);
}

TEST_F(ReliableResponderTest, RefusesAWriteThatIsShorterThanItSaid) {
  link.Receive(1, 0, 50);
  Transport message =
      Write(Psn(0), std::string(FakeLink::kMtu, 'x') + "hello", 200);
  message.length += 1;
  message.has_immediate = true;
  Take(message.Single(0));
  EXPECT_THAT(link.TakeSent(), IsEmpty());

  Take(message.Single(1));

  ExpectRefusal(Syndrome::kInvalidRequest, Psn(1),
                AsyncEventType::kQpAccessError);
  EXPECT_THAT(link.receives, SizeIs(1)) << "it has taken none";
}

TEST_F(ReliableResponderTest, RefusesAMessageWithoutItsFirstPacket) {
  link.Receive(1, 0, 4096);
  Transport last = Send(Psn(0), "x");
  last.first = false;

  Take(last);

  ExpectRefusal(Syndrome::kInvalidRequest, Psn(0),
                AsyncEventType::kQpRequestError);
}

TEST_F(ReliableResponderTest, RefusesAMessageThatBeginsWithinAnother) {
  link.Receive(1, 0, 4096);
  Take(Send(Psn(0), std::string(2 * FakeLink::kMtu, 'x')).Single(0));

  Take(Send(Psn(1), "other"));

  ExpectRefusal(Syndrome::kInvalidRequest, Psn(1),
                AsyncEventType::kQpRequestError);
  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kFlushed));
}

TEST_F(ReliableResponderTest, RefusesToInvalidateAKeyForItsPeer) {
  link.Receive(1, 0, 4096);
  Transport send = Send(Psn(0), "hello");
  send.has_invalidate = true;

  Take(send);

  ExpectRefusal(Syndrome::kInvalidRequest, Psn(0),
                AsyncEventType::kQpRequestError);
}

TEST_F(ReliableResponderTest, FailsAReceiveRequestThatIsTooShort) {
  link.Receive(1, 0, 4);

  Take(Send(Psn(0), "hello"));

  ExpectAnswer(Syndrome::kInvalidRequest, Psn(0));
  EXPECT_EQ(link.context.state, verbs::QpState::kError);
  EXPECT_THAT(link.events, IsEmpty()) << "its completion tells of it";
  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kLocalLength));
}

TEST_F(ReliableResponderTest, FailsAReceiveRequestWithAWrongKey) {
  link.Receive(1, 0, 50);
  link.receives[0].sges[0].lkey += 256;

  Take(Send(Psn(0), "hello"));

  ExpectAnswer(Syndrome::kOperationError, Psn(0));
  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kLocalProtection));
  EXPECT_EQ(link.context.state, verbs::QpState::kError);
  EXPECT_THAT(link.events, IsEmpty()) << "its completion tells of it";
}

TEST_F(ReliableResponderTest, FailsAMessageWhoseMemoryIsNotThere) {
  const auto beyond = RegisterBeyond();
  link.receives.push_back({.id = 1, .sges = {{0, 100, beyond->lkey()}}});

  Take(Send(Psn(0), "hello"));

  ExpectAnswer(Syndrome::kOperationError, Psn(0));
  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kLocalProtection));
  EXPECT_THAT(link.events, IsEmpty()) << "its completion tells of it";
}

TEST_F(ReliableResponderTest, FailsAMessageWhoseMemoryIsNotThereForItsStart) {
  for (const bool all_has_come : {false, true}) {
    const auto beyond = RegisterBeyond();
    for (const uint64_t id : {1, 2}) {
      link.receives.push_back({.id = id, .sges = {{0, 4096, beyond->lkey()}}});
    }
    link.memory->SetDelay(absl::Microseconds(5));
    const Transport message =
        Send(Psn(0), std::string(2 * FakeLink::kMtu, 'x'));
    Transport start = message.Single(0);
    start.ack_request = true;  // it is written at once
    Take(start);
    if (all_has_come) Take(message.Single(1));
    link.timers.RunFor(absl::Seconds(1));

    ExpectAnswer(Syndrome::kOperationError, Psn(0));
    EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kLocalProtection));
    EXPECT_THAT(link.events, IsEmpty()) << "its completion tells of it";
    Reset();
    link.receives.clear();
    link.context.state = verbs::QpState::kReadyToSend;
    responder.Start(FakeLink::kPsn);
  }
}

TEST_F(ReliableResponderTest, TellsOfAWriteWhoseMemoryIsNotThere) {
  const auto beyond = RegisterBeyond();
  Transport message = Write(Psn(0), "hello", 0);
  message.address = 0;
  message.key = beyond->rkey();

  Take(message);

  ExpectRefusal(Syndrome::kOperationError, Psn(0),
                AsyncEventType::kQpAccessError);
  EXPECT_THAT(link.Poll(), IsEmpty());
}

TEST_F(ReliableResponderTest, SendsANakAfterTheAcknowledgementsBeforeIt) {
  link.memory->SetDelay(absl::Microseconds(5));
  Take(Write(Psn(0), "hello", 0));
  Transport message = Write(Psn(1), "world", 0);
  message.key += 256;
  Take(message);
  EXPECT_THAT(link.TakeSent(), IsEmpty());

  link.timers.RunFor(absl::Microseconds(5));

  const std::vector<Transport> sent = link.TakeSent();
  ASSERT_THAT(sent, SizeIs(2));
  EXPECT_EQ(sent[0].syndrome, Syndrome::kAck);
  EXPECT_EQ(sent[1].syndrome, Syndrome::kAccessError);
  EXPECT_EQ(sent[1].psn, Psn(1));
}

TEST_F(ReliableResponderTest, ReceivesNothingAfterARefusalInProgress) {
  link.memory->SetDelay(absl::Microseconds(5));
  link.Receive(1, 0, 50);
  Take(Write(Psn(0), "hello", 0));
  Transport message = Write(Psn(1), "world", 0);
  message.key += 256;
  Take(message);

  Take(Send(Psn(1), "more"));

  EXPECT_THAT(link.receives, SizeIs(1));
}

TEST_F(ReliableResponderTest, SaysOnceThatCommunicationIsEstablished) {
  link.context.state = verbs::QpState::kReadyToReceive;

  Take(Write(Psn(0), "a", 0));
  Take(Write(Psn(1), "b", 0));

  EXPECT_THAT(link.events,
              ElementsAre(verbs::AsyncEventType::kCommunicationEstablished));
}

TEST_F(ReliableResponderTest, AcknowledgesNothingAfterAReset) {
  link.memory->SetDelay(absl::Microseconds(5));
  link.Receive(1, 0, 50);
  Take(Send(Psn(0), "hello"));

  Reset();
  link.timers.RunFor(absl::Seconds(1));

  EXPECT_THAT(link.TakeSent(), IsEmpty());
  EXPECT_THAT(link.Poll(), IsEmpty());
}

TEST_F(ReliableResponderTest, FlushesAMessageOnItsWayToMemoryAtAnError) {
  link.memory->SetDelay(absl::Microseconds(5));
  link.Receive(1, 0, 50);
  Take(Send(Psn(0), "hello"));

  link.EnterError("");
  link.timers.RunFor(absl::Seconds(1));

  EXPECT_THAT(link.TakeSent(), IsEmpty());
  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kFlushed));
}

}  // namespace
}  // namespace ibemu::fabric
