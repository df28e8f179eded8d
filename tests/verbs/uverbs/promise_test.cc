// What a context tells of what its queue pairs promise to take.
#include "tests/verbs/context_fixture.h"

namespace ibemu::verbs {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::Pair;

class PromiseTest : public ContextTest {
 protected:
  PromiseTest() {
    GetContext();
    cq_ = CreateCq();
    qp_ = CreateQp(AllocPd(), cq_);
  }

  template <class Work>
  Answer Post(uint32_t number, const std::vector<Work>& works, bool awaited) {
    return Execute(testing::PostCommand(number, kPlace, qp_, works),
                   std::nullopt, awaited);
  }
  Answer Send(uint32_t count, bool awaited = true) {
    return Post(IB_USER_VERBS_CMD_POST_SEND,
                std::vector<ib_uverbs_send_wr>(count), awaited);
  }
  Answer Receive(uint32_t count, bool awaited = true) {
    return Post(IB_USER_VERBS_CMD_POST_RECV,
                std::vector<ib_uverbs_recv_wr>(count), awaited);
  }
  void Poll() {
    auto request = testing::Answered<ib_uverbs_poll_cq>(kPlace);
    request.cq_handle = cq_;
    request.ne = 4;
    Execute(IB_USER_VERBS_CMD_POLL_CQ, request, 8 + 4 * 48);
  }

  uint32_t cq_, qp_;
};

TEST_F(PromiseTest, IsToldWhenTheQueuePairIsModified) {
  EXPECT_THAT(told_, IsEmpty());
  auto request = Blank<ib_uverbs_modify_qp>();
  request.qp_handle = qp_;
  EXPECT_TRUE(Execute(IB_USER_VERBS_CMD_MODIFY_QP, request).status.ok());
  EXPECT_THAT(told_, ElementsAre(Pair(qp_, true)));
}

TEST_F(PromiseTest, IsToldAfterEachPost) {
  EXPECT_TRUE(Send(1).status.ok());
  EXPECT_TRUE(Receive(1).status.ok());
  EXPECT_THAT(told_, ElementsAre(Pair(qp_, true), Pair(qp_, true)));
}

TEST_F(PromiseTest, IsToldWhenInlineDataAreReadLater) {
  ib_uverbs_send_wr work{};
  work.send_flags = 1 << 3;
  EXPECT_TRUE(
      Post(IB_USER_VERBS_CMD_POST_SEND, std::vector{work}, true).status.ok());
  EXPECT_THAT(told_, ElementsAre(Pair(qp_, true)));
}

TEST_F(PromiseTest, IsToldOnceForTheCompletionsOfAQueuePair) {
  for (int i = 0; i < 3; ++i) {
    provider_.cq->completions.emplace_back().qp_num = provider_.qp->number();
  }
  Poll();
  EXPECT_THAT(told_, ElementsAre(Pair(qp_, true)));
}

TEST_F(PromiseTest, IsNotToldForCompletionsOfQueuePairsThatAreGone) {
  auto request = testing::Answered<ib_uverbs_destroy_qp>(kPlace);
  request.qp_handle = qp_;
  const uint32_t number = provider_.qp->number();
  EXPECT_TRUE(Execute(IB_USER_VERBS_CMD_DESTROY_QP, request, 4).status.ok());
  EXPECT_THAT(told_, ElementsAre(Pair(qp_, false)));
  provider_.cq->completions.emplace_back().qp_num = number;
  Poll();
  EXPECT_EQ(told_.size(), 1u);
}

TEST_F(PromiseTest, IsMadeForWhoDoesNotWait) {
  EXPECT_TRUE(Send(2).status.ok());
  EXPECT_TRUE(Receive(2).status.ok());
  EXPECT_EQ(provider_.qp->made.sends, 0u);
  EXPECT_EQ(provider_.qp->made.receives, 0u);
  EXPECT_TRUE(absl::IsResourceExhausted(Send(1).status)) << "it is full";
  EXPECT_TRUE(Send(1, /*awaited=*/false).status.ok());
  EXPECT_EQ(provider_.qp->made.sends, 1u);
  EXPECT_TRUE(Receive(3, /*awaited=*/false).status.ok());
  EXPECT_EQ(provider_.qp->made.receives, 3u);
}

TEST_F(PromiseTest, AMessageWithoutAReceiveRequestAsksForThoseOnTheirWay) {
  provider_.qp->listener.OnNoReceive();
  EXPECT_EQ(no_receives_, 1);
}

}  // namespace
}  // namespace ibemu::verbs
