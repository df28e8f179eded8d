// What a context does for a client that takes completions by itself.
#include "verbs/uverbs/client_completions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "tests/verbs/context_fixture.h"

namespace ibemu::verbs {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::Pair;

class ClientCompletionsTest : public ContextTest {
 protected:
  ClientCompletionsTest() {
    GetContext();
    channel_ = CreateChannel();
    cq_ = CreateCq(channel_);
    qp_ = CreateQp(AllocPd(), cq_);
    own_ = &completions_[cq_];
  }

  void Arrive(uint64_t id, uint32_t qp_number = 0) {
    auto& completion = provider_.cq->completions.emplace_back();
    completion.wr_id = id;
    completion.qp_num = qp_number;
    provider_.cq->listener.OnArrival();
  }
  // Polls with a command, and returns what that found.
  std::vector<uint64_t> Poll(uint32_t most) {
    auto request = testing::Answered<ib_uverbs_poll_cq>(kPlace);
    request.cq_handle = cq_;
    request.ne = most;
    const Answer answer =
        Execute(IB_USER_VERBS_CMD_POLL_CQ, request, 8 + most * 48);
    std::vector<uint64_t> ids;
    for (size_t i = 8; i < answer.response.size(); i += 48) {
      ids.push_back(
          ReadAs<WorkCompletion>(Bytes(answer.response).subspan(i)).wr_id);
    }
    return ids;
  }
  void Arm() {
    EXPECT_TRUE(Execute(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ,
                        ib_uverbs_req_notify_cq{cq_, 0})
                    .status.ok());
  }

  int channel_;
  uint32_t cq_, qp_;
  FakeClientCompletions* own_;
};

TEST_F(ClientCompletionsTest, AreSharedOnceTheClientHasPolled) {
  Arrive(1);
  EXPECT_FALSE(own_->open);
  EXPECT_EQ(arrivals_, 1);
  Arrive(2);
  Arrive(3);
  EXPECT_THAT(Poll(1), ElementsAre(1u));
  EXPECT_TRUE(own_->open);
  EXPECT_THAT(own_->ids, ElementsAre(2u, 3u));
  EXPECT_FALSE(own_->more);
}

TEST_F(ClientCompletionsTest, AreAddedAsTheyArrive) {
  Poll(1);
  Arrive(1);
  Arrive(2);
  EXPECT_THAT(own_->ids, ElementsAre(1u, 2u));
  EXPECT_FALSE(own_->more);
}

TEST_F(ClientCompletionsTest, AreNoMoreThanFindRoom) {
  own_->most = 2;
  Poll(1);
  Arrive(1);
  Arrive(2);
  EXPECT_FALSE(own_->more);
  Arrive(3);
  EXPECT_THAT(own_->ids, ElementsAre(1u, 2u));
  EXPECT_TRUE(own_->more) << "the client has to ask";
  own_->client_took = 2;
  EXPECT_THAT(Poll(4), ElementsAre(3u));
  EXPECT_FALSE(own_->more);
}

// Rather than have the client ask.
TEST_F(ClientCompletionsTest, FindRoomAgainThoughTheClientGivesNoCommands) {
  own_->most = 4;
  Poll(1);
  for (uint64_t id = 1; id <= 3; ++id) Arrive(id);
  own_->client_took = 3;
  Arrive(4);
  timers_.RunPending();
  EXPECT_EQ(own_->client_took, 0u);
  EXPECT_THAT(own_->ids, ElementsAre(4u));
}

TEST_F(ClientCompletionsTest, ThatTheClientTookDoNotComeAgain) {
  Poll(1);
  Arrive(1);
  Arrive(2);
  own_->client_took = 1;
  EXPECT_EQ(provider_.cq->waiting(), 1u);
  EXPECT_THAT(Poll(4), ElementsAre(2u));
  EXPECT_THAT(provider_.cq->completions, IsEmpty());
}

TEST_F(ClientCompletionsTest, RenewWhatTheirQueuePairPromises) {
  Poll(1);
  told_.clear();
  Arrive(1, provider_.qp->number());
  EXPECT_THAT(told_, ElementsAre(Pair(qp_, true))) << "a receive is free";
  own_->client_took = 1;
  told_.clear();
  context_->PollTaken();
  EXPECT_THAT(told_, ElementsAre(Pair(qp_, true))) << "a send is free";
  EXPECT_THAT(provider_.cq->completions, IsEmpty());
}

TEST_F(ClientCompletionsTest, SayWhoseSendsTheyFree) {
  provider_.cq->frees_sends = 2;
  Poll(1);
  Arrive(1, provider_.qp->number());
  Arrive(2, 0x9999);
  EXPECT_THAT(own_->frees, ElementsAre(Pair(std::optional(qp_), 2u),
                                       Pair(std::nullopt, 2u)));
}

TEST_F(ClientCompletionsTest, ThatAreDroppedAreWithdrawnFirst) {
  Poll(1);
  Arrive(1);
  Arrive(2);
  own_->client_took = 1;
  provider_.cq->listener.OnDrop();
  EXPECT_FALSE(own_->open);
  EXPECT_EQ(provider_.cq->completions.size(), 1u) << "the other was polled";
}

TEST_F(ClientCompletionsTest, AreNoMoreForWhoHasGivenUpItsRights) {
  Poll(1);
  Arrive(1);
  may_take_ = false;
  Arrive(2);
  EXPECT_FALSE(own_->open);
}

TEST_F(ClientCompletionsTest, AreSharedAgainAfterTheyWereAskedToBeTold) {
  Poll(1);
  Arrive(1);
  own_->client_took = 1;
  Arrive(2);
  Arm();
  EXPECT_TRUE(own_->open);
  EXPECT_THAT(own_->ids, ElementsAre(2u));
}

TEST_F(ClientCompletionsTest, AreRefilledWhenTheClientsWerePolled) {
  own_->most = 2;
  Poll(1);
  for (uint64_t id = 1; id <= 4; ++id) Arrive(id);
  own_->client_took = 2;
  context_->PollTaken();
  EXPECT_THAT(own_->ids, ElementsAre(3u, 4u));
  EXPECT_FALSE(own_->more);
}

// Only the daemon sees whether the client polls before it waits.
TEST_F(ClientCompletionsTest, AreAskedForWhileAnEventTellsOfOldOnes) {
  provider_.cq->tells_at_once = true;
  Poll(1);
  Arrive(1);
  Arrive(2);
  Arm();
  EXPECT_FALSE(own_->open);
  EXPECT_THAT(Poll(1), ElementsAre(1u));
  EXPECT_FALSE(own_->open) << "it has not polled them all";
  EXPECT_THAT(Poll(1), ElementsAre(2u));
  EXPECT_TRUE(own_->open);
}

TEST_F(ClientCompletionsTest, EndWithTheirQueue) {
  Poll(1);
  auto destroy_qp = testing::Answered<ib_uverbs_destroy_qp>(kPlace);
  destroy_qp.qp_handle = qp_;
  EXPECT_TRUE(Execute(IB_USER_VERBS_CMD_DESTROY_QP, destroy_qp, 4).status.ok());
  auto destroy_cq = testing::Answered<ib_uverbs_destroy_cq>(kPlace);
  destroy_cq.cq_handle = cq_;
  EXPECT_TRUE(Execute(IB_USER_VERBS_CMD_DESTROY_CQ, destroy_cq, 8).status.ok());
  EXPECT_THAT(gone_queues_, ElementsAre(cq_));
  context_->PollTaken();
}

TEST_F(ClientCompletionsTest, AreNoneWhereTheClientHasNoPlaceForThem) {
  completions_.clear();
  Arrive(1);
  EXPECT_THAT(Poll(1), ElementsAre(1u));
  EXPECT_THAT(Poll(1), IsEmpty());
}

}  // namespace
}  // namespace ibemu::verbs
