#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/soft_hca/queue_pair.h"
#include "tests/fabric/verbs_pair.h"
#include "verbs/wc_status.h"

namespace ibemu::fabric {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::SizeIs;
using verbs::EventType, verbs::QpState, verbs::QpType;

namespace attribute = verbs::qp_attribute;

class QueuePairStatesTest : public VerbsPair {
 protected:
  static absl::Status Go(VerbsPeer& peer, QpState state, uint32_t mask = 0) {
    verbs::QpAttributes to{};
    to.qp_state = static_cast<uint32_t>(state);
    to.qp_attr_mask = attribute::kState | mask;
    to.en_sqd_async_notify = 1;
    return peer.qp->Modify(to);
  }
  static absl::Status Drain(VerbsPeer& peer) {
    return Go(peer, QpState::kSendQueueDrain, attribute::kNotifyDrained);
  }
};

TEST_F(QueuePairStatesTest, ADrainWithNothingUnderWayEndsAtOnce) {
  Connect(QpType::kRc);
  ASSERT_TRUE(Drain(*a_).ok());
  EXPECT_THAT(a_->events, ElementsAre(EventType::kSendQueueDrained));
  EXPECT_EQ(a_->qp->Query().sq_draining, 0);
}

TEST_F(QueuePairStatesTest, ADrainEndsTheMessageThatBeganAndNoOther) {
  Connect(QpType::kRc);
  // Too long to be in flight as a whole.
  ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, 1 << 20, *b_, 0).ok());
  ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, 10, *b_, 0).ok());
  ASSERT_TRUE(Drain(*a_).ok());
  EXPECT_THAT(a_->events, IsEmpty());
  EXPECT_EQ(a_->qp->Query().sq_draining, 1);
  EXPECT_TRUE(absl::IsInvalidArgument(Go(*a_, QpState::kReadyToSend)))
      << "it drains";
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess));
  EXPECT_THAT(a_->events, ElementsAre(EventType::kSendQueueDrained));
  EXPECT_EQ(a_->qp->Query().sq_draining, 0);

  ASSERT_TRUE(Go(*a_, QpState::kReadyToSend).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess));
  EXPECT_THAT(a_->events, SizeIs(1));
}

TEST_F(QueuePairStatesTest, ADrainWaitsForAReceiverThatIsNotReady) {
  Connect(QpType::kRc);
  ASSERT_TRUE(a_->Send(0, 10).ok());
  row_.timers.RunPending();
  ASSERT_TRUE(Drain(*a_).ok());
  EXPECT_EQ(a_->qp->Query().sq_draining, 1);
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess));
  EXPECT_THAT(a_->events, ElementsAre(EventType::kSendQueueDrained));
}

TEST_F(QueuePairStatesTest, WhoDidNotAskIsNotToldOfTheEndOfADrain) {
  Connect(QpType::kUc);
  ASSERT_TRUE(a_->Send(0, 300000).ok());
  ASSERT_TRUE(Go(*a_, QpState::kSendQueueDrain).ok());
  EXPECT_EQ(a_->qp->Query().sq_draining, 1);
  Settle();
  EXPECT_EQ(a_->qp->Query().sq_draining, 0);
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess));
  EXPECT_THAT(a_->events, IsEmpty());
}

TEST_F(QueuePairStatesTest, ADrainingQueuePairStillReceives) {
  Connect(QpType::kRc);
  ASSERT_TRUE(Drain(*b_).ok());
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess));
}

TEST_F(QueuePairStatesTest, AnUnreliableConnectionKeepsARequestThatIsTooShort) {
  Connect(QpType::kUc);
  ASSERT_TRUE(b_->Receive(0, 2000).ok());
  ASSERT_TRUE(a_->Send(0, 2001).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess));
  EXPECT_THAT(b_->Poll(), IsEmpty());
  ASSERT_TRUE(a_->Send(0, 2000).ok());
  Settle();
  EXPECT_THAT(b_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess));
  EXPECT_EQ(b_->State(), QpState::kReadyToSend);
}

TEST_F(QueuePairStatesTest, AnUnreliableConnectionBreaksOverAWrongRequest) {
  Connect(QpType::kUc);
  ASSERT_TRUE(b_->Receive(VerbsPeer::kSize, 10).ok()) << "nothing there";
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(a_->Send(0, 10).ok());
  Settle();
  EXPECT_THAT(b_->PollStatuses(),
              ElementsAre(verbs::wc_status::kLocalProtection,
                          verbs::wc_status::kFlushed));
  EXPECT_EQ(b_->State(), QpState::kError);
  EXPECT_EQ(a_->State(), QpState::kReadyToSend) << "nobody tells it";
}

// Connections have no retries here that could hide it.
TEST_F(QueuePairStatesTest, AnUnreliableSendQueueComesBackFromItsError) {
  Connect(QpType::kUc);
  ASSERT_TRUE(a_->Send(VerbsPeer::kSize, 10).ok()) << "nothing there";
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(),
              ElementsAre(verbs::wc_status::kLocalProtection,
                          verbs::wc_status::kFlushed));
  EXPECT_EQ(a_->State(), QpState::kSendQueueError);

  ASSERT_TRUE(a_->Receive(100, 10).ok());
  ASSERT_TRUE(b_->Send(0, 10).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess))
      << "it still receives";
  ASSERT_TRUE(a_->Send(0, 10).ok());
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kFlushed));

  ASSERT_TRUE(Go(*a_, QpState::kReadyToSend).ok());
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess));
  EXPECT_THAT(b_->PollStatuses(), ElementsAre(0, 0));
}

TEST_F(QueuePairStatesTest, AReliableSendQueueHasNoErrorOfItsOwn) {
  Connect(QpType::kRc);
  ASSERT_TRUE(a_->Send(VerbsPeer::kSize, 10).ok());
  Settle();
  EXPECT_EQ(a_->State(), QpState::kError);
  EXPECT_TRUE(absl::IsInvalidArgument(Go(*a_, QpState::kReadyToSend)));
  EXPECT_TRUE(Go(*a_, QpState::kReset).ok());
}

}  // namespace
}  // namespace ibemu::fabric
