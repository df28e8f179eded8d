#include <gmock/gmock.h>

#include "tests/verbs/providers/provider_suites.h"

namespace ibemu::verbs {
namespace {

namespace status = wc_status;
using ::testing::Contains, ::testing::ElementsAre, ::testing::IsEmpty,
    ::testing::Not, ::testing::Pair, ::testing::SizeIs,
    ::testing::UnorderedElementsAre;
using testing::Pattern;

}  // namespace

TEST_P(ReliableConnectionTest, KeepsTheOrderOfManyMessagesOfAnyLength) {
  Connect();
  b_->memory->SetDelay(absl::Microseconds(3));
  a_->memory->Put(0, Pattern(1000));
  // An adapter's queues go round.
  for (uint64_t round = 0; round < 4; ++round) {
    for (uint64_t i = 0; i < 100; ++i) {
      ASSERT_TRUE(b_->Receive(i * 2000, 2000, i).ok());
      ASSERT_TRUE(a_->Send(i, i * 9, i).ok()) << i;
    }
    EXPECT_TRUE(absl::IsResourceExhausted(a_->Send(0, 1))) << "100 are there";
    EXPECT_TRUE(absl::IsResourceExhausted(b_->Receive(0, 1)));
    Run();
    const auto got = b_->Poll();
    ASSERT_THAT(got, SizeIs(100));
    for (uint64_t i = 0; i < 100; ++i) {
      EXPECT_EQ(got[i].wr_id, i);
      EXPECT_EQ(got[i].byte_len, i * 9);
      EXPECT_EQ(b_->memory->Text(i * 2000, i * 9),
                Pattern(1000).substr(i, i * 9));
    }
    const auto ends = a_->PollEnds();
    ASSERT_THAT(ends, SizeIs(100));
    for (uint64_t i = 0; i < 100; ++i)
      EXPECT_THAT(ends[i], Pair(i, status::kSuccess));
  }
}

TEST_P(ReliableConnectionTest, CarriesAMessageOfTwoMebibytes) {
  Connect();
  constexpr size_t kLong = size_t{2} << 20;
  a_->memory->Put(0, Pattern(kLong));
  ASSERT_TRUE(b_->Receive(0, kLong).ok());
  ASSERT_TRUE(a_->Send(0, kLong).ok());
  Run();
  EXPECT_TRUE(b_->memory->Text(0, kLong) == Pattern(kLong));
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(status::kSuccess));
}

TEST_P(ReliableConnectionTest,
       TakesAReceiveRequestThatIsLongerThanTheLongestMessage) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, VerbsEnd::kSize).ok());
  ASSERT_TRUE(b_->Receive(0, 5 << 20).ok());
  ASSERT_TRUE(a_->Send(0, 100).ok());
  Run();
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(100u, status::kSuccess)));
}

TEST_P(ReliableConnectionTest, EndsBothSidesWhenTheirPathMtusDiffer) {
  for (const uint32_t of_b : {2u, 4u}) {  // 512 and 2048 bytes; a_ has 1024
    Make(Options(), Options());
    a_->Connect(TowardsB());
    QpAttributes to_a = TowardsA();
    to_a.path_mtu = of_b;
    b_->Connect(to_a);
    ASSERT_TRUE(b_->Receive(0, 4000).ok());
    ASSERT_TRUE(b_->Receive(0, 4000).ok());
    ASSERT_TRUE(a_->Send(0, 400).ok());
    Run();
    EXPECT_THAT(a_->PollStatuses(), ElementsAre(status::kSuccess))
        << "it is one packet for both";
    ASSERT_TRUE(a_->Send(0, 4000).ok());
    Run();
    EXPECT_THAT(a_->PollStatuses(), ElementsAre(status::kRemoteInvalidRequest));
    EXPECT_THAT(b_->events, Contains(AsyncEventType::kQpRequestError));
    b_->PollStatuses();
  }
}

TEST_P(ReliableConnectionTest,
       EndsBothSidesWhenAMessageIsLongerThanItsReceiveRequest) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 10, 1).ok());
  ASSERT_TRUE(b_->Receive(0, 10, 2).ok());
  ASSERT_TRUE(a_->Send(0, 11).ok());
  Run();
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(1u, status::kLocalLength),
                                          Pair(2u, status::kFlushed)));
  EXPECT_THAT(a_->PollEnds(),
              ElementsAre(Pair(7u, status::kRemoteInvalidRequest)));
  EXPECT_THAT(b_->events, Not(Contains(AsyncEventType::kQpRequestError)))
      << "the completion tells of it";
}

TEST_P(ReliableConnectionTest, FailsASendWhoseMemoryIsNotThere) {
  Connect();
  a_->mr = *a_->provider.CreateMr({.pd = a_->pd.get(),
                                   .memory = a_->memory,
                                   .start = FakeMemory::kStart,
                                   .length = 2 * VerbsEnd::kSize,
                                   .address = FakeMemory::kStart,
                                   .access = access::kLocalWrite});
  ASSERT_TRUE(a_->Send(VerbsEnd::kSize, 10, 2).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(2u, status::kLocalProtection)));
}

TEST_P(ReliableConnectionTest,
       RefusesAMessageForAReceiveRequestWhoseKeyIsWrong) {
  Connect();
  ASSERT_TRUE(b_->ReceiveWithAWrongKey(100, 4).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(4u, status::kLocalProtection)));
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7u, status::kRemoteOperation)));
}

TEST_P(ReliableConnectionTest, TellsAReceiverWhoseMemoryWentMeanwhile) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 100, 1).ok());
  ASSERT_TRUE(b_->Receive(0, 100, 2).ok());
  b_->mr.reset();
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(1u, status::kLocalProtection),
                                          Pair(2u, status::kFlushed)));
  EXPECT_EQ(b_->State(), QpState::kError);
  EXPECT_THAT(b_->events, IsEmpty()) << "the completion tells of it";
}

TEST_P(ReliableConnectionTest, TellsAReceiverWhoseMemoryIsNotThere) {
  Connect();
  b_->mr = *b_->provider.CreateMr({.pd = b_->pd.get(),
                                   .memory = b_->memory,
                                   .start = FakeMemory::kStart,
                                   .length = 2 * VerbsEnd::kSize,
                                   .address = FakeMemory::kStart,
                                   .access = access::kLocalWrite});
  ASSERT_TRUE(b_->Receive(VerbsEnd::kSize, 100, 1).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(1u, status::kLocalProtection)));
  EXPECT_EQ(b_->State(), QpState::kError);
  EXPECT_THAT(b_->events, IsEmpty()) << "the completion tells of it";
}

TEST_P(ReliableConnectionTest, ShowsACompletionOnlyWhenTheMessageIsInPlace) {
  Connect();
  b_->memory->SetDelay(absl::Milliseconds(3));
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run(absl::Milliseconds(2));
  EXPECT_THAT(b_->Poll(), IsEmpty());
  Run(absl::Milliseconds(4));
  EXPECT_THAT(b_->Poll(), SizeIs(1));
}

TEST_P(ReliableConnectionTest, WaitsForAReceiverThatIsNotReady) {
  Connect();
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run(absl::Microseconds(500));
  EXPECT_THAT(a_->Poll(), IsEmpty());
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7u, status::kSuccess)));
}

TEST_P(ReliableConnectionTest, GivesUpWhenTheReceiverIsNotReadyForTooLong) {
  Connect();
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run(absl::Milliseconds(50));
  EXPECT_THAT(a_->PollEnds(),
              ElementsAre(Pair(7u, status::kRnrRetriesExceeded)));
}

TEST_P(ReliableConnectionTest, GivesUpWhenNobodyAnswers) {
  Connect();
  b_->Forget();
  ASSERT_TRUE(a_->Send(0, 10, 1).ok());
  ASSERT_TRUE(a_->Send(0, 10, 2).ok());
  Run(absl::Milliseconds(200));
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kRetriesExceeded),
                                          Pair(2u, status::kFlushed)));
  EXPECT_EQ(a_->State(), QpState::kError);
}

TEST_P(ReliableConnectionTest, GivesUpWhenThePeersLinkIsDown) {
  Connect();
  hosts_->SetLink(HostNumber::kTwo, false);
  ASSERT_TRUE(a_->Send(0, 10, 1).ok());
  ASSERT_TRUE(a_->Send(0, 10, 2).ok());
  Run(absl::Milliseconds(200));
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kRetriesExceeded),
                                          Pair(2u, status::kFlushed)));
}

TEST_P(ReliableConnectionTest, FlushesWhatWasPostedWhenItIsSetToError) {
  Connect();
  ASSERT_TRUE(a_->Receive(0, 10, 1).ok());
  ASSERT_TRUE(a_->Receive(0, 10, 2).ok());
  a_->Modify({}, QpState::kError);
  ASSERT_TRUE(a_->Send(0, 10, 3).ok());
  ASSERT_TRUE(a_->Receive(0, 10, 4).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), UnorderedElementsAre(Pair(1u, status::kFlushed),
                                                   Pair(2u, status::kFlushed),
                                                   Pair(3u, status::kFlushed),
                                                   Pair(4u, status::kFlushed)));
}

TEST_P(ReliableConnectionTest, FlushesSendsThatAReceiveErrorOvertakes) {
  Connect();
  a_->memory->SetDelay(absl::Milliseconds(4));
  ASSERT_TRUE(a_->ReceiveWithAWrongKey(10, 1).ok());
  ASSERT_TRUE(a_->Send(0, 10, 2).ok());
  ASSERT_TRUE(b_->Send(0, 10).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(),
              UnorderedElementsAre(Pair(1u, status::kLocalProtection),
                                   Pair(2u, status::kFlushed)));
}

TEST_P(ReliableConnectionTest, MayBeResetAndUsedAgain) {
  Connect();
  ASSERT_TRUE(a_->Receive(0, 10).ok());
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  a_->Modify({}, QpState::kReset);
  b_->Modify({}, QpState::kReset);
  EXPECT_EQ(a_->State(), QpState::kReset);
  EXPECT_TRUE(absl::IsInvalidArgument(a_->Send(0, 1)));
  EXPECT_TRUE(absl::IsInvalidArgument(a_->Receive(0, 1)));
  a_->Connect(TowardsB());
  b_->Connect(TowardsA());
  a_->memory->Put(0, "again");
  ASSERT_TRUE(b_->Receive(100, 10, 5).ok());
  ASSERT_TRUE(a_->Send(0, 5).ok());
  Run();
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(5u, status::kSuccess)));
  EXPECT_EQ(b_->memory->Text(100, 5), "again");
}

TEST_P(ReliableConnectionTest, TellsWhatItIs) {
  Connect();
  const QpAttributes now = a_->qp->Query();
  EXPECT_EQ(now.qp_state, static_cast<uint32_t>(QpState::kReadyToSend));
  EXPECT_EQ(now.dest_qp_num, b_->qp->number());
  EXPECT_EQ(now.sq_psn, 0xfffffeu);
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  EXPECT_EQ(a_->qp->Query().sq_psn, 0xffffffu);
  EXPECT_EQ(b_->qp->Query().rq_psn, 0xffffffu);
}

TEST_P(ReliableConnectionTest, ConnectsByGid) {
  Make({}, {});
  const GidBytes gid_a = hosts_->gid(HostNumber::kOne);
  const GidBytes gid_b = hosts_->gid(HostNumber::kTwo);
  QpAttributes to_a = TowardsA(), to_b = TowardsB();
  to_a.ah_attr = Address(LidOf(HostNumber::kOne), &gid_a);
  to_b.ah_attr = Address(LidOf(HostNumber::kTwo), &gid_b);
  a_->Connect(to_b);
  b_->Connect(to_a);
  a_->memory->Put(0, "global");
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 6).ok());
  Run();
  EXPECT_EQ(b_->memory->Text(0, 6), "global");
}

TEST_P(ReliableConnectionTest, TellsAReceiverThatSomebodySpeaks) {
  Make({}, {});
  a_->Connect(TowardsB());
  for (const auto state : {QpState::kInit, QpState::kReadyToReceive}) {
    b_->Modify(TowardsA(), state, testing::StepTo(state, QpType::kRc));
  }
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(b_->Send(0, 1))) << "not yet";
  ASSERT_TRUE(a_->Send(0, 6).ok());
  Run();
  EXPECT_THAT(b_->events,
              ElementsAre(AsyncEventType::kCommunicationEstablished));
  EXPECT_THAT(b_->Poll(), SizeIs(1));
}

TEST_P(ReliableConnectionTest,
       RefusesTransitionsThatTheSpecificationDoesNotHave) {
  Make({}, {});
  EXPECT_TRUE(
      absl::IsInvalidArgument(a_->TryModify({}, QpState::kReadyToSend)));
  EXPECT_EQ(a_->State(), QpState::kReset);
}

TEST_P(ReliableConnectionTest, HasNoErrorOfItsSendQueueAlone) {
  Connect();
  ASSERT_TRUE(a_->SendWithAWrongKey(10).ok());
  Run();
  EXPECT_EQ(a_->State(), QpState::kError);
  EXPECT_TRUE(
      absl::IsInvalidArgument(a_->TryModify({}, QpState::kReadyToSend)));
  EXPECT_TRUE(a_->TryModify({}, QpState::kReset).ok());
}

TEST_P(ReliableConnectionTest, ADrainWaitsForAReceiverThatIsNotReady) {
  Connect();
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run(absl::Microseconds(500));
  a_->Drain();
  EXPECT_EQ(a_->qp->Query().sq_draining, 1);
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  Run();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(status::kSuccess));
  EXPECT_THAT(a_->events, ElementsAre(AsyncEventType::kSendQueueDrained));
  EXPECT_EQ(a_->qp->Query().sq_draining, 0);
}

TEST_P(ReliableConnectionTest, ReceivesWhileItIsDrained) {
  Connect();
  b_->Drain();
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(status::kSuccess));
}

}  // namespace ibemu::verbs
