#include "fabric/soft_hca/transport/requester.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fabric/soft_hca/transport/requester_lab.h"
#include "verbs/wc_status.h"

namespace ibemu::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Syndrome = Transport::Syndrome;

namespace wc_status = verbs::wc_status;

class RequesterTest : public ::testing::Test, protected RequesterLab {
 protected:
  RequesterTest() : RequesterLab(verbs::QpType::kRc) {}
};

TEST_F(RequesterTest, SendsThePacketsOfAMessageTogether) {
  ASSERT_TRUE(Send(3000).ok());

  const std::vector<Transport> sent = link.TakeSent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].packets, 3u);
  EXPECT_EQ(sent[0].psn, Psn(0));
  EXPECT_EQ(sent[0].last_psn(), Psn(2)) << "it has wrapped";
  EXPECT_EQ(sent[0].size, 3000u);
  EXPECT_TRUE(sent[0].first && sent[0].last && sent[0].ack_request);
}

TEST_F(RequesterTest, CompletesASendWhenItsLastPacketIsAcknowledged) {
  ASSERT_TRUE(Send(3000).ok());

  Acknowledge(Psn(1));
  EXPECT_THAT(link.Poll(), IsEmpty());
  Acknowledge(Psn(2));
  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kSuccess));
  EXPECT_TRUE(requester.IsDrained());
}

TEST_F(RequesterTest, CompletesAllThatOneAcknowledgementCovers) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Send(1).ok());

  Acknowledge(Psn(1));

  const auto completions = link.Poll();
  ASSERT_THAT(completions, SizeIs(2));
  EXPECT_EQ(completions[0].wr_id, 0u);
  EXPECT_EQ(completions[1].wr_id, 1u);
}

TEST_F(RequesterTest, SendsWhatWasReadBeforeItWasPosted) {
  verbs::SendRequest request = Request(IB_UVERBS_WR_SEND, 0, 5);
  request.read_data = FakeLink::BufferOf("hello");
  request.reader = link.memory->process();
  const int calls = link.memory->calls;
  ASSERT_TRUE(Post(std::move(request)).ok());

  const std::vector<Transport> sent = link.TakeSent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(*sent[0].message, *FakeLink::BufferOf("hello"));
  EXPECT_EQ(link.memory->calls, calls);
}

// A region may be another process's.
TEST_F(RequesterTest, SendsItsMemoryWhereAnothersWasRead) {
  verbs::SendRequest request = Request(IB_UVERBS_WR_SEND, 0, 5);
  request.read_data = FakeLink::BufferOf("hello");
  request.reader = link.memory->process() + 1;
  const int calls = link.memory->calls;
  ASSERT_TRUE(Post(std::move(request)).ok());
  EXPECT_GT(link.memory->calls, calls);
}

TEST_F(RequesterTest, SendsNothingThatNoKeyGives) {
  verbs::SendRequest request = Request(IB_UVERBS_WR_SEND, 0, 5);
  request.read_data = FakeLink::BufferOf("hello");
  request.sges[0].lkey += 1;
  ASSERT_TRUE(Post(std::move(request)).ok());

  EXPECT_THAT(link.TakeSent(), IsEmpty());
  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kLocalProtection));
}

TEST_F(RequesterTest, TellsItsQueuePairOfALostCompletion) {
  ASSERT_TRUE(link.cq.Resize(1).ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Send(1).ok());

  Acknowledge(Psn(0));
  EXPECT_EQ(link.lost_completions, 0);
  Acknowledge(Psn(2));
  EXPECT_EQ(link.lost_completions, 2);
}

TEST_F(RequesterTest, IgnoresAnAcknowledgementOfWhatItHasNotSent) {
  ASSERT_TRUE(Send(1).ok());

  Acknowledge(Psn(1));

  EXPECT_THAT(link.Poll(), IsEmpty());
  EXPECT_FALSE(requester.IsDrained());
}

TEST_F(RequesterTest, HasAtMostHalfAMebibyteInFlight) {
  ASSERT_TRUE(Send(3 * verbs::kChunk).ok());
  constexpr uint32_t kPackets = verbs::kChunk / FakeLink::kMtu;
  EXPECT_THAT(link.TakeSent(), SizeIs(2));

  Acknowledge(Psn(kPackets - 1));

  const std::vector<Transport> sent = link.TakeSent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].psn, Psn(2 * kPackets));
  EXPECT_TRUE(sent[0].last);
}

TEST_F(RequesterTest, SendsTheRestAgainAfterASequenceError) {
  ASSERT_TRUE(Send(3000).ok());
  ASSERT_TRUE(Send(1).ok());
  ASSERT_THAT(link.TakeSent(), SizeIs(2));

  Acknowledge(Psn(1), Syndrome::kSequenceError);

  const std::vector<Transport> sent = link.TakeSent();
  ASSERT_THAT(sent, SizeIs(2));
  EXPECT_EQ(sent[0].psn, Psn(1));
  EXPECT_EQ(sent[0].packets, 2u);
  EXPECT_EQ(sent[0].offset, FakeLink::kMtu);
  EXPECT_FALSE(sent[0].first);
  EXPECT_EQ(sent[1].psn, Psn(3));
}

TEST_F(RequesterTest, SendsAgainAfterEachTimeout) {
  ASSERT_TRUE(Send(1).ok());
  ASSERT_THAT(link.TakeSent(), SizeIs(1));

  link.timers.RunFor(kTimeout - absl::Nanoseconds(1));
  EXPECT_THAT(link.TakeSent(), IsEmpty());
  link.timers.RunFor(absl::Nanoseconds(1));
  EXPECT_THAT(link.TakeSent(), SizeIs(1));
  link.timers.RunFor(kTimeout);
  EXPECT_THAT(link.TakeSent(), SizeIs(1));
}

// A retry may take four times the timeout: two retries and the first try.
TEST_F(RequesterTest, GivesUpWhenNoRetryIsLeft) {
  ASSERT_TRUE(Send(1).ok());
  ASSERT_TRUE(Send(1).ok());

  link.timers.RunFor(12 * kTimeout - absl::Nanoseconds(1));
  EXPECT_THAT(link.Poll(), IsEmpty());
  link.timers.RunFor(absl::Nanoseconds(1));

  EXPECT_THAT(link.PollStatuses(),
              ElementsAre(wc_status::kRetriesExceeded, wc_status::kFlushed));
  EXPECT_EQ(link.context.state, verbs::QpState::kError);
  EXPECT_TRUE(link.timers.idle());
}

TEST_F(RequesterTest, HasAllRetriesOnceMoreByAnAlternatePath) {
  link.armed = true;
  ASSERT_TRUE(Send(1).ok());

  link.timers.RunFor(24 * kTimeout - absl::Nanoseconds(1));
  EXPECT_THAT(link.Poll(), IsEmpty());
  EXPECT_FALSE(link.armed);
  link.timers.RunFor(absl::Nanoseconds(1));

  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kRetriesExceeded));
  EXPECT_THAT(link.TakeSent(), SizeIs(24));
}

TEST_F(RequesterTest, HasAllRetriesAgainAfterProgress) {
  ASSERT_TRUE(Send(3000).ok());
  link.timers.RunFor(11 * kTimeout);

  Acknowledge(Psn(0));

  link.timers.RunFor(11 * kTimeout);
  EXPECT_THAT(link.Poll(), IsEmpty());
  link.timers.RunFor(kTimeout);
  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kRetriesExceeded));
}

TEST_F(RequesterTest, HasNoMoreRetriesAfterADuplicateAcknowledgement) {
  ASSERT_TRUE(Send(3000).ok());
  Acknowledge(Psn(0));
  link.timers.RunFor(11 * kTimeout);

  Acknowledge(Psn(0));
  link.timers.RunFor(kTimeout);

  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kRetriesExceeded));
}

TEST_F(RequesterTest, WaitsForEverWithoutATimeout) {
  link.context.attributes.timeout = 0;
  ASSERT_TRUE(Send(1).ok());

  link.timers.RunFor(absl::Hours(1));

  EXPECT_THAT(link.TakeSent(), SizeIs(1));
  EXPECT_THAT(link.Poll(), IsEmpty());
}

TEST_F(RequesterTest, WaitsAsLongAsAReceiverThatIsNotReadyAsksFor) {
  ASSERT_TRUE(Send(1).ok());
  ASSERT_TRUE(Send(1).ok());
  ASSERT_THAT(link.TakeSent(), SizeIs(2));

  Acknowledge(Psn(0), Syndrome::kRnrNak, 12);  // 640 us
  ASSERT_TRUE(Send(1).ok());
  link.timers.RunFor(absl::Microseconds(639));
  EXPECT_THAT(link.TakeSent(), IsEmpty());
  link.timers.RunFor(absl::Microseconds(1));

  EXPECT_THAT(link.TakeSent(), SizeIs(3)) << "the third for the first time";
}

TEST_F(RequesterTest, SendsNothingAtASequenceErrorWhileItWaitsForTheReceiver) {
  ASSERT_TRUE(Send(1).ok());
  ASSERT_TRUE(Send(1).ok());
  Acknowledge(Psn(0), Syndrome::kRnrNak, 12);
  link.TakeSent();

  Acknowledge(Psn(0), Syndrome::kSequenceError);

  EXPECT_THAT(link.TakeSent(), IsEmpty());
}

TEST_F(RequesterTest, GivesUpWhenNoRnrRetryIsLeft) {
  ASSERT_TRUE(Send(1).ok());
  for (int i = 0; i < 2; ++i) {
    Acknowledge(Psn(0), Syndrome::kRnrNak, 1);
    link.timers.RunFor(absl::Microseconds(10));
  }
  EXPECT_THAT(link.Poll(), IsEmpty());

  Acknowledge(Psn(0), Syndrome::kRnrNak, 1);

  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kRnrRetriesExceeded));
  EXPECT_EQ(link.context.state, verbs::QpState::kError);
}

TEST_F(RequesterTest, TriesForEverWithSevenRnrRetries) {
  link.context.attributes.rnr_retry = 7;
  requester.RenewRetries();
  ASSERT_TRUE(Send(1).ok());

  for (int i = 0; i < 100; ++i) {
    Acknowledge(Psn(0), Syndrome::kRnrNak, 1);
    link.timers.RunFor(absl::Microseconds(10));
  }

  EXPECT_THAT(link.TakeSent(), SizeIs(101));
  EXPECT_THAT(link.Poll(), IsEmpty());
}

TEST_F(RequesterTest, FailsTheSendThatThePeerRefuses) {
  const std::pair<Syndrome, uint32_t> cases[] = {
      {Syndrome::kInvalidRequest, wc_status::kRemoteInvalidRequest},
      {Syndrome::kAccessError, wc_status::kRemoteAccess},
      {Syndrome::kOperationError, wc_status::kRemoteOperation}};
  for (const auto& [syndrome, status] : cases) {
    RequesterLab lab(verbs::QpType::kRc);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(lab.Send(2000).ok());

    lab.Acknowledge(Psn(3), syndrome);  // the second message's second packet

    EXPECT_THAT(lab.link.PollStatuses(),
                ElementsAre(wc_status::kSuccess, status, wc_status::kFlushed));
  }
}

TEST_F(RequesterTest, FailsASendWithoutAccessAfterThoseBeforeIt) {
  ASSERT_TRUE(Send(1).ok());
  verbs::SendRequest request = Request(IB_UVERBS_WR_SEND, 0, 1);
  request.sges[0].lkey += 256;
  ASSERT_TRUE(Post(std::move(request)).ok());
  ASSERT_TRUE(Send(1).ok());
  EXPECT_THAT(link.Poll(), IsEmpty());
  EXPECT_THAT(link.TakeSent(), SizeIs(1));

  Acknowledge(Psn(0));

  EXPECT_THAT(link.PollStatuses(),
              ElementsAre(wc_status::kSuccess, wc_status::kLocalProtection,
                          wc_status::kFlushed));
}

TEST_F(RequesterTest, FailsASendWhoseKeyGoesAfterItsFirstChunks) {
  ASSERT_TRUE(Send(3 * verbs::kChunk).ok());
  link.mr = nullptr;

  Acknowledge(Psn(0));
  Acknowledge(Psn(verbs::kChunk / FakeLink::kMtu - 1));

  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kLocalProtection));
  EXPECT_EQ(link.context.state, verbs::QpState::kError);
}

TEST_F(RequesterTest, FailsASendWhoseMemoryIsNotThere) {
  const auto beyond = *verbs::MemoryRegion::Register(
      link.keys, {.pd = &link.pd,
                  .memory = link.memory,
                  .start = FakeLink::kStart + FakeLink::kSize,
                  .length = 100,
                  .address = 0,
                  .access = 0});
  verbs::SendRequest request = Request(IB_UVERBS_WR_SEND, 0, 1);
  request.sges = {{0, 100, beyond->lkey()}};

  ASSERT_TRUE(Post(std::move(request)).ok());

  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kLocalProtection));
}

TEST_F(RequesterTest, SendsInlineDataWithoutALookAtMemory) {
  verbs::SendRequest request = Request(IB_UVERBS_WR_SEND_WITH_IMM, 0, 1);
  request.inline_data = FakeLink::BufferOf("hello");
  request.work.ex.imm_data = 77;

  ASSERT_TRUE(Post(std::move(request)).ok());

  EXPECT_EQ(link.memory->calls, 0);
  const std::vector<Transport> sent = link.TakeSent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].size, 5u);
  EXPECT_TRUE(sent[0].has_immediate);
  EXPECT_EQ(sent[0].immediate, 77u);
}

TEST_F(RequesterTest, TakesNoMoreThanTheQueueHolds) {
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(Send(1).ok());

  EXPECT_EQ(Send(1).code(), absl::StatusCode::kResourceExhausted);
  Acknowledge(Psn(0));
  EXPECT_EQ(Send(1).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(link.Poll(), SizeIs(1));
  EXPECT_TRUE(Send(1).ok());
}

TEST_F(RequesterTest, SaysOnceThatItIsDrained) {
  ASSERT_TRUE(Send(3000).ok());
  link.context.state = verbs::QpState::kSendQueueDrain;
  requester.Drain(true);
  ASSERT_TRUE(Send(1).ok());
  EXPECT_THAT(link.events, IsEmpty());

  Acknowledge(Psn(2));

  EXPECT_THAT(link.events,
              ElementsAre(verbs::AsyncEventType::kSendQueueDrained));
  EXPECT_TRUE(requester.IsDrained());
  EXPECT_THAT(link.TakeSent(), SizeIs(1)) << "the second one has to wait";
}

TEST_F(RequesterTest, DoesNothingAfterAResetWithWhatWasBegun) {
  link.memory->SetDelay(absl::Microseconds(5));
  ASSERT_TRUE(Send(1).ok());
  link.timers.RunFor(absl::Microseconds(5));
  ASSERT_THAT(link.TakeSent(), SizeIs(1));
  ASSERT_TRUE(Send(1).ok());  // is being read, and a retry timer runs

  Reset();
  link.timers.RunFor(absl::Seconds(10));

  EXPECT_THAT(link.TakeSent(), IsEmpty());
  EXPECT_THAT(link.Poll(), IsEmpty());
}

TEST_F(RequesterTest, DoesNothingAfterAnErrorWhenTheReceiverWouldBeReady) {
  ASSERT_TRUE(Send(1).ok());
  Acknowledge(Psn(0), Syndrome::kRnrNak, 12);
  link.TakeSent();

  link.EnterError("");
  link.timers.RunFor(absl::Seconds(10));

  EXPECT_THAT(link.TakeSent(), IsEmpty());
  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kFlushed));
}

TEST_F(RequesterTest, FlushesWhatIsPostedInTheErrorState) {
  link.EnterError("");

  ASSERT_TRUE(Send(1).ok());

  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kFlushed));
}

class UnreliableRequesterTest : public ::testing::Test, protected RequesterLab {
 protected:
  UnreliableRequesterTest() : RequesterLab(verbs::QpType::kUc) {}
};

TEST_F(UnreliableRequesterTest, CompletesASendThatHasLeft) {
  ASSERT_TRUE(Send(3000).ok());

  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kSuccess));
  const std::vector<Transport> sent = link.TakeSent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].service, verbs::QpType::kUc);
  EXPECT_EQ(sent[0].packets, 3u);
  EXPECT_TRUE(link.timers.idle()) << "it sends nothing again";
}

TEST_F(UnreliableRequesterTest, StopsItsSendQueueAfterAnError) {
  verbs::SendRequest request = Request(IB_UVERBS_WR_SEND, 0, 1);
  request.sges[0].lkey += 256;
  ASSERT_TRUE(Post(std::move(request)).ok());
  ASSERT_TRUE(Send(1).ok());

  EXPECT_THAT(link.PollStatuses(),
              ElementsAre(wc_status::kLocalProtection, wc_status::kFlushed));
  EXPECT_EQ(link.context.state, verbs::QpState::kSendQueueError);
}

TEST_F(UnreliableRequesterTest, OffersNoReads) {
  EXPECT_EQ(Read(0, 8).code(), absl::StatusCode::kInvalidArgument);
}

class DatagramRequesterTest : public ::testing::Test, protected RequesterLab {
 protected:
  DatagramRequesterTest() : RequesterLab(verbs::QpType::kUd) {}

  absl::Status SendTo(uint32_t qpn, size_t size) {
    return SendTo(link.pd, qpn, size);
  }
  absl::Status SendTo(const verbs::Pd& pd, uint32_t qpn, size_t size) {
    verbs::AddressHandle handle(pd, verbs::AddressAttributes{});
    verbs::SendRequest request = Request(IB_UVERBS_WR_SEND, 0, size);
    request.address = &handle;
    request.work.wr.ud.remote_qpn = qpn;
    return Post(std::move(request));
  }
};

TEST_F(DatagramRequesterTest, SendsEachDatagramToItsAddress) {
  ASSERT_TRUE(SendTo(0x31, 100).ok());
  ASSERT_TRUE(SendTo(0x32, FakeLink::kMtu).ok());

  EXPECT_THAT(link.destinations, ElementsAre(0x31u, 0x32u));
  EXPECT_THAT(link.PollStatuses(),
              ElementsAre(wc_status::kSuccess, wc_status::kSuccess));
}

TEST_F(DatagramRequesterTest, FailsToSendToAnAddressOfAnotherDomain) {
  const verbs::Pd other{};
  ASSERT_TRUE(SendTo(other, 0x31, 100).ok());

  EXPECT_THAT(link.destinations, IsEmpty());
  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kLocalQpOperation));
  EXPECT_EQ(link.context.state, verbs::QpState::kSendQueueError);
}

TEST_F(DatagramRequesterTest, RefusesAMessageThatIsNoSinglePacket) {
  ASSERT_TRUE(SendTo(0x31, FakeLink::kMtu + 1).ok());

  EXPECT_THAT(link.destinations, IsEmpty());
  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kLocalLength));
  EXPECT_EQ(link.context.state, verbs::QpState::kSendQueueError);
}

}  // namespace
}  // namespace ibemu::fabric
