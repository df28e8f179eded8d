// Reads, writes and atomics on the memory of a host of the software fabric.
#include <endian.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/hca/mlx4/verbs_bench.h"

namespace ibemu::hca::mlx4 {
namespace {

namespace status = verbs::wc_status;
using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::Pair,
    ::testing::SizeIs;

constexpr uint32_t kAll =
    verbs::access::kLocalWrite | verbs::access::kRemoteWrite |
    verbs::access::kRemoteRead | verbs::access::kRemoteAtomic;

class QueuePairFetchTest : public DriverBench {
 protected:
  QueuePairFetchTest() {
    device_ = Start(host_);
    if (!device_) throw std::runtime_error("no driver");
    Run(absl::Milliseconds(10));
    a_ = std::make_unique<VerbsEnd>(timers_, device_->provider(),
                                    VerbsEnd::Options{});
    VerbsEnd::Options options;
    options.rights = kAll;
    const topology::NodeId peer = *fabric_.Find("host-2");
    b_ = std::make_unique<VerbsEnd>(timers_, fabric_.provider(peer), options);
    const auto lid = [](const mad::Device& device) {
      return static_cast<uint16_t>(
          const_cast<mad::Device&>(device).port(1).Info().lid);
    };
    a_->Connect(VerbsEnd::Towards(b_->qp->number(), lid(fabric_.device(peer))));
    b_->Connect(VerbsEnd::Towards(a_->qp->number(), lid(*device_)));
  }
  ~QueuePairFetchTest() override {
    a_.reset();
    b_.reset();
  }

  void Run(absl::Duration span = absl::Milliseconds(10)) {
    RunFor(span, {device_.get()});
  }
  verbs::SendRequest Rdma(uint32_t opcode, size_t offset, size_t size,
                          size_t there, uint64_t id = 7) {
    verbs::SendRequest request = a_->Request(opcode, offset, size, id);
    request.work.wr.rdma.remote_addr = FakeMemory::kStart + there;
    request.work.wr.rdma.rkey = b_->mr->rkey();
    return request;
  }
  verbs::SendRequest Atomic(uint32_t opcode, size_t offset, size_t there,
                            uint64_t compare_add, uint64_t swap = 0) {
    verbs::SendRequest request = a_->Request(opcode, offset, 8);
    request.work.wr.atomic.remote_addr = FakeMemory::kStart + there;
    request.work.wr.atomic.rkey = b_->mr->rkey();
    request.work.wr.atomic.compare_add = compare_add;
    request.work.wr.atomic.swap = swap;
    return request;
  }
  static std::string Text(size_t size) {
    std::string text(size, ' ');
    for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 13);
    return text;
  }

  ModelledHost& host_ = PlugIn("host-1");
  std::unique_ptr<Mlx4Device> device_;
  std::unique_ptr<VerbsEnd> a_, b_;
};

TEST_F(QueuePairFetchTest, ExchangesMessagesWithTheSoftwareFabric) {
  a_->memory->Put(0, Text(5000));
  b_->memory->Put(0, "answer");
  ASSERT_TRUE(b_->Receive(10000, 5000).ok());
  ASSERT_TRUE(a_->Receive(10000, 5000).ok());
  ASSERT_TRUE(a_->Send(0, 5000).ok());
  ASSERT_TRUE(b_->Send(0, 6).ok());
  Run();
  EXPECT_EQ(b_->memory->Text(10000, 5000), Text(5000));
  EXPECT_EQ(a_->memory->Text(10000, 6), "answer");
  EXPECT_THAT(a_->Poll(), SizeIs(2));
  EXPECT_THAT(b_->Poll(), SizeIs(2));
}

TEST_F(QueuePairFetchTest, WritesIntoThePeersMemory) {
  a_->memory->Put(0, Text(9000));
  ASSERT_TRUE(a_->Post(Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, 9000, 500)).ok());
  ASSERT_TRUE(b_->Receive(0, 0, 3).ok());
  auto immediate = Rdma(IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, 0, 10, 20000);
  immediate.work.ex.imm_data = htobe32(5);
  ASSERT_TRUE(a_->Post(immediate).ok());
  Run();
  EXPECT_EQ(b_->memory->Text(500, 9000), Text(9000));
  const auto sent = a_->Poll();
  ASSERT_THAT(sent, SizeIs(2));
  EXPECT_EQ(sent[0].opcode, uint32_t{IB_UVERBS_WC_RDMA_WRITE});
  const auto received = b_->Poll();
  ASSERT_THAT(received, SizeIs(1));
  EXPECT_EQ(received[0].opcode, verbs::wc_opcode::kReceiveWriteWithImmediate);
  EXPECT_EQ(be32toh(received[0].ex.imm_data), 5u);
}

TEST_F(QueuePairFetchTest, ReadsThePeersMemory) {
  b_->memory->Put(300, Text(9000));
  ASSERT_TRUE(a_->Post(Rdma(IB_UVERBS_WR_RDMA_READ, 100, 9000, 300)).ok());
  Run();
  const auto ends = a_->Poll();
  ASSERT_THAT(ends, SizeIs(1));
  EXPECT_EQ(ends[0].status, status::kSuccess);
  EXPECT_EQ(ends[0].opcode, uint32_t{IB_UVERBS_WC_RDMA_READ});
  EXPECT_EQ(ends[0].byte_len, 9000u);
  EXPECT_EQ(a_->memory->Text(100, 9000), Text(9000));
}

TEST_F(QueuePairFetchTest, ReadsAreCompleteInTheirOrderWhenTheyAreInPlace) {
  a_->memory->SetDelay(absl::Milliseconds(4));
  ASSERT_TRUE(a_->Post(Rdma(IB_UVERBS_WR_RDMA_READ, 100, 10, 300, 1)).ok());
  ASSERT_TRUE(a_->Post(Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, 0, 300, 2)).ok());
  Run(absl::Milliseconds(2));
  EXPECT_THAT(a_->Poll(), IsEmpty());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kSuccess),
                                          Pair(2u, status::kSuccess)));
}

TEST_F(QueuePairFetchTest, ReadsNoMoreForOneWhoTakesSlowlyThanItMayHave) {
  constexpr size_t kLong = size_t{2} << 20;
  constexpr size_t kMost = size_t{26} << 20;  // of one process
  a_->memory->SetDelay(absl::Milliseconds(20));
  for (uint64_t i = 0; i < 16; ++i) {
    ASSERT_TRUE(a_->Post(Rdma(IB_UVERBS_WR_RDMA_READ, 0, kLong, 0, i)).ok());
  }
  Run(absl::Milliseconds(400));
  EXPECT_GT(a_->memory->most_waiting, kMost / 2);
  EXPECT_LE(a_->memory->most_waiting, kMost);
  EXPECT_THAT(a_->Poll(), SizeIs(16));
}

TEST_F(QueuePairFetchTest, AFencedSendCarriesWhatAReadBrought) {
  a_->memory->SetDelay(absl::Microseconds(300));
  b_->memory->Put(300, "fresh");
  ASSERT_TRUE(b_->Receive(5000, 10).ok());
  ASSERT_TRUE(a_->Post(Rdma(IB_UVERBS_WR_RDMA_READ, 100, 5, 300)).ok());
  auto send = a_->Request(IB_UVERBS_WR_SEND, 100, 5);
  send.work.send_flags = verbs::send_flag::kFence;
  ASSERT_TRUE(a_->Post(send).ok());
  Run();
  EXPECT_EQ(b_->memory->Text(5000, 5), "fresh");
}

TEST_F(QueuePairFetchTest, ComparesSwapsAndAdds) {
  b_->memory->PutValue(800, 41);
  ASSERT_TRUE(
      a_->Post(Atomic(IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, 0, 800, 1)).ok());
  ASSERT_TRUE(
      a_->Post(Atomic(IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, 8, 800, 42, 99)).ok());
  ASSERT_TRUE(
      a_->Post(Atomic(IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, 16, 800, 42, 7)).ok());
  Run();
  EXPECT_EQ(a_->memory->Value(0), 41u);
  EXPECT_EQ(a_->memory->Value(8), 42u);
  EXPECT_EQ(a_->memory->Value(16), 99u);
  EXPECT_EQ(b_->memory->Value(800), 99u);
  const auto ends = a_->Poll();
  ASSERT_THAT(ends, SizeIs(3));
  EXPECT_EQ(ends[0].opcode, uint32_t{IB_UVERBS_WC_FETCH_ADD});
  EXPECT_EQ(ends[1].opcode, uint32_t{IB_UVERBS_WC_COMP_SWAP});
}

TEST_F(QueuePairFetchTest, AnAtomicHasEightBytesAndChangesNothingOtherwise) {
  b_->memory->PutValue(800, 41);
  auto request = Atomic(IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, 0, 800, 1);
  request.sges[0].length = 16;
  ASSERT_TRUE(a_->Post(request).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7u, status::kLocalLength)));
  EXPECT_EQ(b_->memory->Value(800), 41u);
}

TEST_F(QueuePairFetchTest, AnAtomicWhoseKeyIsWrongChangesNothing) {
  b_->memory->PutValue(800, 41);
  auto request = Atomic(IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, 0, 800, 1);
  request.sges[0].lkey ^= 0x100;
  ASSERT_TRUE(a_->Post(request).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7u, status::kLocalProtection)));
  EXPECT_EQ(b_->memory->Value(800), 41u);
}

TEST_F(QueuePairFetchTest, HearsThatThePeerDoesNotAllowIt) {
  auto request = Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, 10, 0);
  request.work.wr.rdma.rkey ^= 0x100;
  ASSERT_TRUE(a_->Post(request).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7u, status::kRemoteAccess)));
  EXPECT_EQ(a_->State(), verbs::QpState::kError);
}

TEST_F(QueuePairFetchTest, AReadWhoseMemoryGoesMeanwhileEndsTheConnection) {
  ASSERT_TRUE(a_->Post(Rdma(IB_UVERBS_WR_RDMA_READ, 100, 10, 300, 1)).ok());
  ASSERT_TRUE(a_->Receive(0, 10, 2).ok());
  a_->mr.reset();
  Run(absl::Milliseconds(20));
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kLocalProtection),
                                          Pair(2u, status::kFlushed)));
}

TEST_F(QueuePairFetchTest, PeersFindNoMemoryHere) {
  auto request = b_->Request(IB_UVERBS_WR_RDMA_READ, 0, 10);
  request.work.wr.rdma.remote_addr = FakeMemory::kStart;
  request.work.wr.rdma.rkey = a_->mr->rkey();
  ASSERT_TRUE(b_->Post(request).ok());
  Run();
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(7u, status::kRemoteAccess)));
}

}  // namespace
}  // namespace ibemu::hca::mlx4
