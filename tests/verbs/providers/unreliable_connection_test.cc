#include <endian.h>
#include <gmock/gmock.h>

#include "tests/verbs/providers/provider_suites.h"

namespace ibemu::verbs {
namespace {

namespace status = wc_status;
using ::testing::AllOf, ::testing::Contains, ::testing::Each,
    ::testing::ElementsAre, ::testing::IsEmpty, ::testing::Pair,
    ::testing::SizeIs, ::testing::UnorderedElementsAre;
using testing::Pattern;

}  // namespace

TEST_P(UnreliableConnectionTest, SendsAMessageIntoTheOthersMemory) {
  Connect();
  const std::string text = Pattern(10000);
  a_->memory->Put(100, text);
  ASSERT_TRUE(b_->Receive(5000, 20000).ok());
  auto request = a_->Request(IB_UVERBS_WR_SEND_WITH_IMM, 100, text.size());
  request.work.ex.imm_data = htobe32(0xcafe);
  ASSERT_TRUE(a_->Post(std::move(request)).ok());
  Run();
  const auto received = b_->Poll();
  ASSERT_THAT(received, SizeIs(1));
  EXPECT_EQ(received[0].wr_id, 100u);
  EXPECT_EQ(received[0].status, status::kSuccess);
  EXPECT_EQ(received[0].opcode, wc_opcode::kReceive);
  EXPECT_EQ(received[0].byte_len, text.size());
  EXPECT_EQ(received[0].qp_num, b_->qp->number());
  EXPECT_EQ(received[0].src_qp, a_->qp->number());
  EXPECT_EQ(be32toh(received[0].ex.imm_data), 0xcafeu);
  EXPECT_EQ(b_->memory->Text(5000, text.size()), text);
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7u, status::kSuccess)));
}

TEST_P(UnreliableConnectionTest, SendsBothWaysAtOnce) {
  Connect();
  a_->memory->Put(0, Pattern(5000));
  b_->memory->Put(0, "answer");
  ASSERT_TRUE(b_->Receive(10000, 5000).ok());
  ASSERT_TRUE(a_->Receive(10000, 5000).ok());
  ASSERT_TRUE(a_->Send(0, 5000).ok());
  ASSERT_TRUE(b_->Send(0, 6).ok());
  Run();
  EXPECT_EQ(b_->memory->Text(10000, 5000), Pattern(5000));
  EXPECT_EQ(a_->memory->Text(10000, 6), "answer");
  EXPECT_THAT(a_->Poll(), SizeIs(2));
  EXPECT_THAT(b_->Poll(), SizeIs(2));
}

TEST_P(UnreliableConnectionTest, LosesWholeMessagesAndNothingElse) {
  Connect();
  Lose(0.3);
  a_->memory->Put(0, Pattern(6000));
  for (uint64_t i = 0; i < 50; ++i) {
    ASSERT_TRUE(b_->Receive(i * 6000, 6000, i).ok());
  }
  for (uint64_t i = 0; i < 50; ++i) ASSERT_TRUE(a_->Send(i, 3000).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(),
              AllOf(SizeIs(50), Each(Pair(7u, status::kSuccess))));
  const auto received = b_->Poll();
  EXPECT_GT(received.size(), 0u);
  EXPECT_LT(received.size(), 50u);
  std::vector<std::string> sent;
  for (size_t i = 0; i < 50; ++i) sent.push_back(Pattern(6000).substr(i, 3000));
  for (size_t i = 0; i < received.size(); ++i) {
    EXPECT_EQ(received[i].wr_id, i) << "what was lost uses no request";
    EXPECT_EQ(received[i].status, status::kSuccess);
    EXPECT_EQ(received[i].byte_len, 3000u);
    EXPECT_THAT(sent, Contains(b_->memory->Text(i * 6000, 3000)));
  }
  EXPECT_EQ(b_->State(), QpState::kReadyToSend);
}

TEST_P(UnreliableConnectionTest, LosesAMessageThatNobodyCanTake) {
  Connect();
  ASSERT_TRUE(a_->Send(0, 10, 1).ok());
  Run();
  ASSERT_TRUE(b_->Receive(0, 2000, 2).ok());
  ASSERT_TRUE(a_->Send(0, 2001, 3).ok());
  Run();
  EXPECT_THAT(b_->PollEnds(), IsEmpty());
  ASSERT_TRUE(a_->Send(0, 2000, 4).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kSuccess),
                                          Pair(3u, status::kSuccess),
                                          Pair(4u, status::kSuccess)));
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(2u, status::kSuccess)));
  EXPECT_THAT(b_->events, IsEmpty());
  EXPECT_EQ(b_->State(), QpState::kReadyToSend);
}

TEST_P(UnreliableConnectionTest, BreaksOverAReceiveRequestWhoseKeyIsWrong) {
  Connect();
  ASSERT_TRUE(b_->ReceiveWithAWrongKey(100, 4).ok());
  ASSERT_TRUE(b_->Receive(0, 10, 5).ok());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(4u, status::kLocalProtection),
                                          Pair(5u, status::kFlushed)));
  EXPECT_EQ(b_->State(), QpState::kError);
  EXPECT_EQ(a_->State(), QpState::kReadyToSend) << "nobody tells it";
}

TEST_P(UnreliableConnectionTest, BreaksOverAReceiveRequestBeyondARegion) {
  Connect();
  ASSERT_TRUE(b_->Receive(VerbsEnd::kSize, 10, 4).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(4u, status::kLocalProtection)));
  EXPECT_EQ(b_->State(), QpState::kError);
}

TEST_P(UnreliableConnectionTest, ComesBackFromAnErrorOfItsSendQueue) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  ASSERT_TRUE(a_->Send(0, 10, 1).ok());
  ASSERT_TRUE(a_->SendWithAWrongKey(10, 2).ok());
  ASSERT_TRUE(a_->Send(0, 10, 3).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kSuccess),
                                          Pair(2u, status::kLocalProtection),
                                          Pair(3u, status::kFlushed)));
  EXPECT_THAT(b_->PollEnds(), SizeIs(1));
  EXPECT_EQ(a_->State(), QpState::kSendQueueError);

  ASSERT_TRUE(a_->Receive(100, 10, 4).ok());
  ASSERT_TRUE(b_->Send(0, 10).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(4u, status::kSuccess)))
      << "it still receives";
  ASSERT_TRUE(a_->Send(0, 10, 5).ok());
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(5u, status::kFlushed)));

  a_->Modify({}, QpState::kReadyToSend);
  ASSERT_TRUE(b_->Receive(0, 10, 6).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7u, status::kSuccess)));
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(7u, status::kSuccess),
                                          Pair(6u, status::kSuccess)));
}

TEST_P(UnreliableConnectionTest, FailsASendBeyondWhatIsRegistered) {
  Connect();
  ASSERT_TRUE(a_->Send(VerbsEnd::kSize, 10, 1).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kLocalProtection)));
  EXPECT_EQ(a_->State(), QpState::kSendQueueError);
}

TEST_P(UnreliableConnectionTest, HoldsSendsBackWhileItIsDrained) {
  Connect();
  a_->Drain();
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  EXPECT_THAT(a_->events, ElementsAre(EventType::kSendQueueDrained));
  EXPECT_THAT(b_->Poll(), IsEmpty());
  a_->Modify({}, QpState::kReadyToSend);
  Run();
  EXPECT_THAT(b_->Poll(), SizeIs(1));
}

TEST_P(UnreliableConnectionTest, WhoDidNotAskIsNotToldOfTheEndOfADrain) {
  Connect();
  a_->Modify({}, QpState::kSendQueueDrain);
  Run();
  EXPECT_EQ(a_->qp->Query().sq_draining, 0);
  EXPECT_THAT(a_->events, IsEmpty());
}

TEST_P(UnreliableConnectionTest, MayBeBrokenResetAndUsedAgain) {
  Connect();
  ASSERT_TRUE(a_->Receive(0, 10, 1).ok());
  a_->Modify({}, QpState::kError);
  ASSERT_TRUE(a_->Send(0, 10, 2).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), UnorderedElementsAre(Pair(1u, status::kFlushed),
                                                   Pair(2u, status::kFlushed)));
  a_->Modify({}, QpState::kReset);
  a_->Connect(TowardsB());
  a_->memory->Put(0, "again");
  ASSERT_TRUE(b_->Receive(100, 10).ok());
  ASSERT_TRUE(a_->Send(0, 5).ok());
  Run();
  EXPECT_EQ(b_->memory->Text(100, 5), "again");
}

TEST_P(UnreliableConnectionTest, ReceivesWithASharedReceiveQueue) {
  Options shared = Unreliable();
  shared.shared = true;
  ProviderSuite::Connect(Unreliable(), shared);
  Lose(0.3);
  size_t received = 0;
  for (uint64_t i = 0; i < 20; ++i) ASSERT_TRUE(b_->Receive(0, 3000, i).ok());
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(a_->Send(0, 3000).ok());
    Run(absl::Milliseconds(1));
    for (const auto& [id, ended] : b_->PollEnds()) {
      EXPECT_EQ(id, received++ % 20);
      EXPECT_EQ(ended, status::kSuccess);
      ASSERT_TRUE(b_->Receive(0, 3000, id).ok());
    }
  }
  EXPECT_GT(received, 0u);
  EXPECT_LT(received, 40u);
}

TEST_P(UnreliableConnectionTest, RefusesRequestsThatItDoesNotHave) {
  Connect();
  for (const uint32_t opcode :
       {IB_UVERBS_WR_RDMA_READ, IB_UVERBS_WR_ATOMIC_CMP_AND_SWP,
        IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, IB_UVERBS_WR_BIND_MW}) {
    EXPECT_TRUE(absl::IsInvalidArgument(a_->Post(a_->Request(opcode, 0, 8))))
        << opcode;
  }
}

TEST_P(UnreliableConnectionTest, HasNoRetryTimer) {
  Connect();
  EXPECT_TRUE(absl::IsInvalidArgument(
      a_->TryModify({}, QpState::kReadyToSend, qp_attribute::kTimeout)));
}

}  // namespace ibemu::verbs
