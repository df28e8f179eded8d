#include <gmock/gmock.h>

#include "tests/verbs/providers/provider_suites.h"

namespace ibemu::verbs {
namespace {

namespace status = wc_status;
using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::Pair,
    ::testing::SizeIs;
using testing::Pattern;

}  // namespace

TEST_P(SharedReceiveTest, ReceivesMoreThanItHolds) {
  Connect();
  a_->memory->Put(0, Pattern(100));
  for (uint64_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(b_->Receive(1000 * (i % 20), 100, i).ok());
    ASSERT_TRUE(a_->Send(0, i % 100 + 1).ok());
    if (i % 20 != 19) continue;
    Run();
    const auto received = b_->Poll();
    ASSERT_THAT(received, SizeIs(20));
    EXPECT_EQ(received[19].wr_id, i);
    EXPECT_EQ(received[19].byte_len, i % 100 + 1);
    EXPECT_EQ(b_->memory->Text(19000, i % 100 + 1),
              Pattern(100).substr(0, i % 100 + 1));
    a_->Poll();
  }
}

TEST_P(SharedReceiveTest, HoldsAsManyAsItWasMadeFor) {
  Connect();
  EXPECT_EQ(b_->srq->Query().max_requests, 20u);
  for (uint64_t i = 0; i < 20; ++i) ASSERT_TRUE(b_->Receive(0, 10, i).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(b_->Receive(0, 10)));
  std::vector<ReceiveRequest> request(1);
  size_t taken = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(b_->qp->PostReceive(request, taken)))
      << "its queue pair has no queue of its own";
}

TEST_P(SharedReceiveTest, TellsOnceThatFewAreLeft) {
  Connect();
  for (uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(b_->Receive(0, 10, i).ok());
  ASSERT_TRUE(b_->srq->SetLimit(3).ok());
  EXPECT_EQ(b_->srq->Query().limit, 3u);
  EXPECT_TRUE(absl::IsInvalidArgument(b_->srq->SetLimit(21)));
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  EXPECT_THAT(b_->events, IsEmpty());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  EXPECT_THAT(b_->events, ElementsAre(AsyncEventType::kSrqLimit));
  EXPECT_EQ(b_->srq->Query().limit, 0u);
}

TEST_P(SharedReceiveTest, KeepsItsRequestsWhenAQueuePairIsInError) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  b_->Modify({}, QpState::kError);
  Run();
  EXPECT_THAT(b_->Poll(), IsEmpty()) << "the request is for others";
}

TEST_P(SharedReceiveTest, SaysOnceThatAQueuePairInErrorTakesNoMore) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  b_->Modify({}, QpState::kError);
  Run();
  EXPECT_THAT(b_->events, ElementsAre(AsyncEventType::kLastWqeReached));
  b_->Modify({}, QpState::kError);
  Run();
  EXPECT_THAT(b_->events, SizeIs(1));
}

TEST_P(SharedReceiveTest, CompletesWhatAQueuePairTookBeforeItSaysSo) {
  Connect();
  b_->memory->SetDelay(absl::Milliseconds(4));
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run(absl::Milliseconds(2));
  ASSERT_EQ(b_->memory->calls, 1) << "it is on its way to the client";
  ASSERT_THAT(b_->Poll(), IsEmpty());
  b_->Modify({}, QpState::kError);
  for (int i = 0; i < 20 && b_->events.empty(); ++i) {
    Run(absl::Microseconds(500));
  }
  EXPECT_THAT(b_->events, ElementsAre(AsyncEventType::kLastWqeReached));
  EXPECT_THAT(b_->Poll(), SizeIs(1));
}

TEST_P(SharedReceiveTest, SaysThatAQueuePairThatFailedTakesNoMore) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 5).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  EXPECT_THAT(b_->events, ElementsAre(AsyncEventType::kLastWqeReached));
  EXPECT_THAT(b_->PollStatuses(), ElementsAre(status::kLocalLength));
}

TEST_P(SharedReceiveTest, SaysNothingOfAQueuePairThatIsReset) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  b_->Modify({}, QpState::kReset);
  Run(absl::Milliseconds(1100));
  EXPECT_THAT(b_->events, IsEmpty());
}

// Half of it has come: its request is not lost.
TEST_P(SharedReceiveTest, GetsBackTheRequestOfAMessageThatWasBrokenOff) {
  Connect();
  for (uint64_t i = 0; i < 20; ++i) ASSERT_TRUE(b_->Receive(0, 1 << 20).ok());
  ASSERT_TRUE(a_->Send(0, 1 << 20).ok());
  Run(absl::Microseconds(60));
  b_->qp.reset();
  Run();
  EXPECT_TRUE(b_->Receive(0, 10).ok()) << "there is room for one more";
  EXPECT_TRUE(absl::IsResourceExhausted(b_->Receive(0, 10)));
}

TEST_P(SharedReceiveTest, KeepsItsRequestsWhenAQueuePairGoes) {
  Connect();
  ASSERT_TRUE(b_->Receive(500, 10, 1).ok());
  QpInit init;
  init.signal_all = true;
  init.pd = b_->pd.get();
  init.send_cq = init.receive_cq = b_->cq.get();
  init.srq = b_->srq.get();
  b_->qp = *b_->provider.CreateQp(init, *b_);
  b_->Connect(TowardsA());
  a_->Modify({}, QpState::kReset);
  a_->Connect(TowardsB());
  a_->memory->Put(0, "for you");
  ASSERT_TRUE(a_->Send(0, 7).ok());
  Run();
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(1u, status::kSuccess)));
  EXPECT_EQ(b_->memory->Text(500, 7), "for you");
}

// The keys of its requests are those of its own domain.
TEST_P(SharedReceiveTest, ServesAQueuePairOfAnotherDomain) {
  Connect();
  const auto other = *b_->provider.CreatePd(b_->memory->process());
  QpInit init;
  init.pd = other.get();
  init.send_cq = init.receive_cq = b_->cq.get();
  init.srq = b_->srq.get();
  b_->qp = *b_->provider.CreateQp(init, *b_);
  b_->Connect(TowardsA());
  a_->Modify({}, QpState::kReset);
  a_->Connect(TowardsB());
  ASSERT_TRUE(b_->Receive(500, 10, 1).ok());
  a_->memory->Put(0, "for you");
  ASSERT_TRUE(a_->Send(0, 7).ok());
  Run();
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(1u, status::kSuccess)));
  EXPECT_EQ(b_->memory->Text(500, 7), "for you");
  b_->qp.reset();  // before its domain
}

}  // namespace ibemu::verbs
