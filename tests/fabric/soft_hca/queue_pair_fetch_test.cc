#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fabric/soft_hca/queue_pair.h"
#include "tests/fabric/verbs_pair.h"
#include "verbs/wc_status.h"

namespace ibemu::fabric {
namespace {

using ::testing::AllOf, ::testing::Each, ::testing::ElementsAre;
using ::testing::IsEmpty, ::testing::SizeIs;
using verbs::QpState, verbs::QpType;

constexpr uint32_t kAdd = IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD;
constexpr uint32_t kSwap = IB_UVERBS_WR_ATOMIC_CMP_AND_SWP;

class QueuePairFetchTest : public VerbsPair {
 protected:
  absl::Status Add(VerbsPeer& from, size_t offset, const VerbsPeer& to,
                   size_t there, uint64_t value) {
    return from.Post(from.Atomic(kAdd, offset, to, there, value));
  }
};

TEST_F(QueuePairFetchTest, AnAtomicBringsWhatWasThere) {
  Connect(QpType::kRc);
  b_->memory->PutValue(800, 40);
  ASSERT_TRUE(Add(*a_, 0, *b_, 800, 2).ok());
  ASSERT_TRUE(a_->Post(a_->Atomic(kSwap, 8, *b_, 800, 42, 7)).ok());
  ASSERT_TRUE(a_->Post(a_->Atomic(kSwap, 16, *b_, 800, 42, 9)).ok());
  Settle();
  const auto done = a_->Poll();
  ASSERT_THAT(done, SizeIs(3));
  EXPECT_EQ(done[0].status, verbs::wc_status::kSuccess);
  EXPECT_EQ(done[0].opcode, uint32_t{IB_UVERBS_WC_FETCH_ADD});
  EXPECT_EQ(done[0].byte_len, 8u);
  EXPECT_EQ(done[1].opcode, uint32_t{IB_UVERBS_WC_COMP_SWAP});
  EXPECT_EQ(a_->memory->Value(0), 40u);
  EXPECT_EQ(a_->memory->Value(8), 42u);
  EXPECT_EQ(a_->memory->Value(16), 7u);
  EXPECT_EQ(b_->memory->Value(800), 7u) << "the last did not compare";
  EXPECT_THAT(b_->Poll(), IsEmpty());
}

TEST_F(QueuePairFetchTest, ARepeatedAtomicIsDoneOnce) {
  Connect(QpType::kRc);
  Lose(0.3);
  ASSERT_TRUE(
      row_.fabric
          .AddFault(row_.host_2, 1, Fabric::Direction::kTransmit, {.loss = 0.3})
          .ok());
  for (size_t i = 0; i < 50; ++i) {
    ASSERT_TRUE(Add(*a_, 8 * i, *b_, 0, 1).ok());
  }
  Settle(absl::Minutes(1));
  EXPECT_THAT(a_->PollStatuses(), AllOf(SizeIs(50), Each(0u)));
  EXPECT_EQ(b_->memory->Value(0), 50u);
  for (size_t i = 0; i < 50; ++i) EXPECT_EQ(a_->memory->Value(8 * i), i);
}

TEST_F(QueuePairFetchTest, AtomicsOfSeveralQueuePairsDoNotRace) {
  Connect(QpType::kRc);
  VerbsPeer c(row_, row_.host_1, QpType::kRc);
  VerbsPeer d(row_, row_.host_2, QpType::kRc);
  d.memory = b_->memory;
  d.mr = *d.provider.CreateMr({.pd = d.pd.get(),
                               .memory = d.memory,
                               .start = FakeMemory::kStart,
                               .length = VerbsPeer::kSize,
                               .address = FakeMemory::kStart,
                               .access = VerbsPeer::kAll});
  c.Connect(d, 2);
  d.Connect(c, 1);
  for (size_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(Add(*a_, 8 * i, *b_, 64, 1).ok());
    ASSERT_TRUE(Add(c, 8 * i, d, 64, 1).ok());
  }
  Settle();
  EXPECT_EQ(b_->memory->Value(64), 40u);
  std::set<uint64_t> found;
  for (size_t i = 0; i < 20; ++i) {
    found.insert(a_->memory->Value(8 * i));
    found.insert(c.memory->Value(8 * i));
  }
  EXPECT_THAT(found, SizeIs(40));
}

TEST_F(QueuePairFetchTest, AnAtomicNeedsAnAlignedAddress) {
  Connect(QpType::kRc);
  ASSERT_TRUE(Add(*a_, 0, *b_, 4, 1).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(),
              ElementsAre(verbs::wc_status::kRemoteInvalidRequest));
  EXPECT_EQ(b_->memory->Value(0), 0u);
  EXPECT_EQ(b_->State(), QpState::kError);
}

TEST_F(QueuePairFetchTest, AnAtomicNeedsItsOwnRight) {
  Connect(QpType::kRc,
          VerbsPeer::kAll & ~uint32_t{verbs::access::kRemoteAtomic});
  ASSERT_TRUE(Add(*a_, 0, *b_, 0, 1).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kRemoteAccess));
  EXPECT_EQ(b_->memory->Value(0), 0u);
}

TEST_F(QueuePairFetchTest, AnAtomicDoesNotWriteToARegionThatWentSinceItRead) {
  Connect(QpType::kRc);
  b_->memory->SetDelay(absl::Milliseconds(1));
  ASSERT_TRUE(Add(*a_, 0, *b_, 0, 1).ok());
  row_.timers.RunFor(absl::Microseconds(500));
  ASSERT_EQ(b_->memory->calls, 1) << "it reads";
  b_->mr.reset();
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kRemoteAccess));
  EXPECT_EQ(b_->memory->calls, 1);
  EXPECT_EQ(b_->memory->Value(0), 0u);
  EXPECT_EQ(b_->State(), QpState::kError);
}

TEST_F(QueuePairFetchTest, AnAtomicHasEightBytes) {
  Connect(QpType::kRc);
  verbs::SendRequest request = a_->Atomic(kAdd, 0, *b_, 0, 1);
  request.sges = {a_->Sge(0, 4)};
  ASSERT_TRUE(a_->Post(std::move(request)).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kLocalLength));
}

TEST_F(QueuePairFetchTest, UnreliableConnectionsHaveNoAtomics) {
  Connect(QpType::kUc);
  EXPECT_TRUE(absl::IsInvalidArgument(Add(*a_, 0, *b_, 0, 1)));
}

TEST_F(QueuePairFetchTest, AResponderOfWhichNoneAreExpectedRefusesThem) {
  Connect(QpType::kRc);
  verbs::QpAttributes to{};
  to.qp_attr_mask = verbs::qp_attribute::kState;
  to.qp_state = static_cast<uint32_t>(QpState::kSendQueueDrain);
  ASSERT_TRUE(b_->qp->Modify(to).ok());
  to.qp_attr_mask = verbs::qp_attribute::kMaxReadsHere;
  ASSERT_TRUE(b_->qp->Modify(to).ok());
  ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_READ, 0, 10, *b_, 0).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(),
              ElementsAre(verbs::wc_status::kRemoteInvalidRequest));
}

TEST_F(QueuePairFetchTest, AFenceWaitsForWhatIsFetched) {
  Connect(QpType::kRc);
  b_->memory->PutValue(0, 123);
  ASSERT_TRUE(Add(*a_, 0, *b_, 0, 1).ok());
  verbs::SendRequest fenced =
      a_->Request(IB_UVERBS_WR_RDMA_WRITE, 0, 8);  // what was fetched
  fenced.work.wr.rdma.remote_addr = FakeMemory::kStart + 64;
  fenced.work.wr.rdma.rkey = b_->mr->rkey();
  fenced.work.send_flags = verbs::send_flag::kFence;
  ASSERT_TRUE(a_->Post(std::move(fenced)).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(0, 0));
  EXPECT_EQ(b_->memory->Value(64), 123u);
}

// Four may be outstanding.
TEST_F(QueuePairFetchTest, SeveralReadsAreUnderWayAtOnceAndNoneIsRepeated) {
  Connect(QpType::kRc);
  const auto& sent = row_.PortOf(row_.host_1, 1).traffic.xmit_packets;
  const uint64_t before = sent;
  for (size_t i = 0; i < 12; ++i) {
    const std::string text = Pattern(3000 + i);
    b_->memory->Put(4000 * i, text);
    ASSERT_TRUE(
        a_->Rdma(IB_UVERBS_WR_RDMA_READ, 4000 * i, text.size(), *b_, 4000 * i)
            .ok());
  }
  row_.timers.RunPending();
  EXPECT_THAT(a_->PollStatuses(), AllOf(SizeIs(12), Each(0u)));
  EXPECT_EQ(sent - before, 12u);
  for (size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(a_->memory->Text(4000 * i, 3000 + i), Pattern(3000 + i));
  }
}

TEST_F(QueuePairFetchTest, LongReadsDoNotPileUpBeforeSlowMemory) {
  Connect(QpType::kRc);
  a_->memory->SetDelay(absl::Milliseconds(5));
  const std::string text = Pattern(VerbsPeer::kSize - 1);
  b_->memory->Put(0, text);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_READ, 0, text.size(), *b_, 0).ok());
  }
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(0, 0, 0));
  EXPECT_EQ(a_->memory->Text(0, text.size()), text);
  EXPECT_LE(a_->memory->most_waiting, 3 * verbs::kChunk);
  EXPECT_GE(a_->memory->most_waiting, 2 * verbs::kChunk)
      << "one is always ready";
}

TEST_F(QueuePairFetchTest, ALongReadIsDoneAsSeveralOfWhichSomeGetLost) {
  Connect(QpType::kRc);
  Lose(0.2);
  ASSERT_TRUE(row_.fabric
                  .AddFault(row_.host_2, 1, Fabric::Direction::kTransmit,
                            {.loss = 0.01})
                  .ok());
  const std::string text = Pattern(VerbsPeer::kSize);
  b_->memory->Put(0, text);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_READ, 0, text.size(), *b_, 0).ok());
    ASSERT_TRUE(Add(*a_, 0, *b_, 0, 0).ok());
  }
  Settle(absl::Minutes(5));
  EXPECT_THAT(a_->PollStatuses(), AllOf(SizeIs(6), Each(0u)));
  EXPECT_EQ(a_->memory->Text(0, text.size()), text);
}

TEST_F(QueuePairFetchTest, ARefusalWaitsForTheReadsBeforeIt) {
  Connect(QpType::kRc);
  b_->memory->Put(0, "text");
  ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_READ, 0, 4, *b_, 0).ok());
  ASSERT_TRUE(
      a_->Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, 10, *b_, VerbsPeer::kSize).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(),
              ElementsAre(0, verbs::wc_status::kRemoteAccess));
  EXPECT_EQ(a_->memory->Text(0, 4), "text");
}

}  // namespace
}  // namespace ibemu::fabric
