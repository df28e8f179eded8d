// What connections have in common, whether they are reliable or not.
#include <endian.h>
#include <gmock/gmock.h>

#include "tests/verbs/providers/provider_suites.h"

namespace ibemu::verbs {
namespace {

namespace status = wc_status;
using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::Pair,
    ::testing::SizeIs, ::testing::UnorderedElementsAre;
using testing::Pattern;

}  // namespace

TEST_P(ConnectionTest, SendsAMessageIntoTheOthersMemory) {
  Connect();
  const std::string text = Pattern(10000);
  a_->memory->Put(100, text);
  ASSERT_TRUE(b_->Receive(5000, 20000).ok());
  auto request = a_->Request(IB_UVERBS_WR_SEND_WITH_IMM, 100, text.size());
  request.work.ex.imm_data = htobe32(0xcafe);
  ASSERT_TRUE(a_->Post(std::move(request)).ok());
  EXPECT_THAT(a_->Poll(), IsEmpty()) << "nothing happens at once";
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
  const auto sent = a_->Poll();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].wr_id, 7u);
  EXPECT_EQ(sent[0].status, status::kSuccess);
  EXPECT_EQ(sent[0].opcode, uint32_t{IB_UVERBS_WC_SEND});
}

TEST_P(ConnectionTest, SendsBothWaysAtOnce) {
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
  for (VerbsEnd* const end : {a_.get(), b_.get()}) {
    std::vector<uint32_t> opcodes;
    for (const auto& completion : end->Poll()) {
      opcodes.push_back(completion.opcode);
    }
    EXPECT_THAT(opcodes, UnorderedElementsAre(wc_opcode::kReceive,
                                              uint32_t{IB_UVERBS_WC_SEND}));
  }
}

TEST_P(ConnectionTest, KnowsWhichCompletionsTheClientHasTaken) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 64).ok());
  ASSERT_TRUE(b_->Receive(0, 64).ok());
  ASSERT_TRUE(a_->Send(0, 8).ok());
  ASSERT_TRUE(a_->Send(0, 8).ok());
  Run();
  EXPECT_EQ(b_->cq->waiting(), 2u);
  b_->client_took = 1;
  EXPECT_EQ(b_->cq->waiting(), 1u);
  WaitingCompletion next[2];
  ASSERT_EQ(b_->cq->Peek(1, next), 1u);
  EXPECT_EQ(next[0].completion.qp_num, b_->qp->number());
  EXPECT_EQ(next[0].frees_sends, 0u);
  ASSERT_EQ(a_->cq->Peek(0, next), 2u);
  EXPECT_EQ(next[1].frees_sends, 1u);
  b_->client_took = 0;
  EXPECT_EQ(b_->drops, 0);
  b_->qp.reset();
  EXPECT_GT(b_->drops, 0) << "it is told before they are gone";
  EXPECT_EQ(b_->cq->waiting(), 0u);
}

TEST_P(ConnectionTest, CarriesAnImmediateAndNoBytes) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 64).ok());
  auto request = a_->Request(IB_UVERBS_WR_SEND_WITH_IMM, 0, 0);
  request.work.ex.imm_data = htobe32(0xcafe);
  ASSERT_TRUE(a_->Post(std::move(request)).ok());
  Run();
  const auto received = b_->Poll();
  ASSERT_THAT(received, SizeIs(1));
  EXPECT_EQ(received[0].wc_flags, wc_flag::kWithImmediate);
  EXPECT_EQ(be32toh(received[0].ex.imm_data), 0xcafeu);
  EXPECT_EQ(received[0].byte_len, 0u);
}

TEST_P(ConnectionTest, SendsWhatWasInlineAsItWasWhenItWasPosted) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 64).ok());
  auto request = a_->Request(IB_UVERBS_WR_SEND, 0, 0);
  request.inline_data = std::make_shared<std::vector<std::byte>>(
      std::vector{std::byte{'h'}, std::byte{'i'}});
  ASSERT_TRUE(a_->Post(std::move(request)).ok());
  Run();
  EXPECT_EQ(b_->memory->Text(0, 2), "hi");
}

TEST_P(ConnectionTest, FailsASendWhoseKeyIsWrongInItsTurn) {
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
  EXPECT_EQ(a_->State(),
            IsReliable() ? QpState::kError : QpState::kSendQueueError);
}

TEST_P(ConnectionTest, FailsASendBeyondWhatIsRegistered) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  ASSERT_TRUE(a_->Send(0, 10, 1).ok());
  ASSERT_TRUE(a_->Send(VerbsEnd::kSize, 1, 2).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kSuccess),
                                          Pair(2u, status::kLocalProtection)));
  EXPECT_EQ(a_->State(),
            IsReliable() ? QpState::kError : QpState::kSendQueueError);
}

TEST_P(ConnectionTest, TakesNothingBeforeItsTime) {
  Make(OfItsType(), OfItsType());
  EXPECT_TRUE(absl::IsInvalidArgument(a_->Send(0, 10)));
  EXPECT_TRUE(absl::IsInvalidArgument(a_->Receive(0, 10)));
}

TEST_P(ConnectionTest, RefusesRequestsThatItDoesNotHave) {
  Connect();
  const std::vector<uint32_t> opcodes =
      IsReliable()
          ? std::vector<uint32_t>{IB_UVERBS_WR_SEND_WITH_INV,
                                  IB_UVERBS_WR_BIND_MW, IB_UVERBS_WR_LOCAL_INV}
          : std::vector<uint32_t>{
                IB_UVERBS_WR_RDMA_READ, IB_UVERBS_WR_ATOMIC_CMP_AND_SWP,
                IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, IB_UVERBS_WR_BIND_MW};
  for (const uint32_t opcode : opcodes) {
    EXPECT_TRUE(absl::IsInvalidArgument(a_->Post(a_->Request(opcode, 0, 8))))
        << opcode;
  }
}

TEST_P(ConnectionTest, ADrainWithNothingUnderWayEndsSoon) {
  Connect();
  a_->Drain();
  Run();
  EXPECT_THAT(a_->events, ElementsAre(AsyncEventType::kSendQueueDrained));
  EXPECT_EQ(a_->qp->Query().sq_draining, 0);
}

TEST_P(ConnectionTest, HoldsSendsBackWhileItIsDrained) {
  Connect();
  a_->Drain();
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  EXPECT_THAT(a_->events, ElementsAre(AsyncEventType::kSendQueueDrained));
  EXPECT_THAT(b_->Poll(), IsEmpty());
  EXPECT_EQ(a_->State(), QpState::kSendQueueDrain);
  a_->Modify({}, QpState::kReadyToSend);
  Run();
  EXPECT_THAT(b_->Poll(), SizeIs(1));
}

}  // namespace ibemu::verbs
