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
  ASSERT_TRUE(a_->SendWithAWrongKey(10).ok());
  Run();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(status::kLocalProtection));
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

TEST_P(UnreliableConnectionTest, HasNoRetryTimer) {
  Connect();
  EXPECT_TRUE(absl::IsInvalidArgument(
      a_->TryModify({}, QpState::kReadyToSend, qp_attribute::kTimeout)));
}

}  // namespace ibemu::verbs
