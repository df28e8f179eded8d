#include "fast_path/preload/promise_claim.h"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <vector>

#include "testing/uverbs_commands.h"

namespace ibemu::fast_path {
namespace {

using testing::CommandBytes;

constexpr uint32_t kQp = 5;
constexpr uint32_t kInlineFlag = 1 << 3;

ib_uverbs_send_wr SendOf(uint32_t sges, uint32_t opcode = IB_UVERBS_WR_SEND,
                         uint32_t flags = 0) {
  ib_uverbs_send_wr work{};
  work.num_sge = sges;
  work.opcode = opcode;
  work.send_flags = flags;
  return work;
}
ib_uverbs_recv_wr ReceiveOf(uint32_t sges) {
  ib_uverbs_recv_wr work{};
  work.num_sge = sges;
  return work;
}

// A post of these requests, each SGE of 40 bytes.
template <class Work>
CommandBytes Post(const std::vector<Work>& works, uint32_t qp = kQp) {
  std::vector<ib_uverbs_sge> sges;
  for (const Work& work : works) {
    sges.insert(sges.end(), work.num_sge, {0x1000, 40, 0x11});
  }
  return testing::PostCommand(0, 0, qp, works, sges);
}

class PromiseClaimTest : public ::testing::Test {
 protected:
  PromiseClaimTest() {
    promise_.queue_pair = kQp + 1;
    promise_.type = static_cast<uint32_t>(verbs::QpType::kUc);
    promise_.send_sges = 2;
    promise_.receive_sges = 3;
    promise_.inline_bytes = 64;
    promise_.sends_until = 4;
    promise_.receives_until = 6;
  }

  template <class Work>
  bool Claims(const std::vector<Work>& works, uint32_t qp = kQp) {
    return ClaimsAll<Work>(Post(works, qp));
  }
  template <class Work>
  bool ClaimsAll(std::span<const std::byte> bytes) {
    return claim_.Claim(*memory_,
                        WorkRequestList<Work>(bytes.data(), bytes.size()));
  }

  const std::unique_ptr<UverbsRingMemory> memory_ =
      std::make_unique<UverbsRingMemory>();
  QueuePairPromise& promise_ = memory_->PromiseOf(kQp);
  PromiseClaim claim_;
};

TEST_F(PromiseClaimTest, TakesUpAsMuchAsAllRequests) {
  EXPECT_TRUE(Claims(std::vector{SendOf(1), SendOf(2), SendOf(0)}));
  EXPECT_EQ(promise_.sends, 3u);
  EXPECT_EQ(promise_.receives, 0u);
  EXPECT_FALSE(Claims(std::vector{SendOf(1), SendOf(1)})) << "one is left";
  EXPECT_EQ(promise_.sends, 3u);
  EXPECT_TRUE(Claims(std::vector{SendOf(1)}));
  EXPECT_FALSE(Claims(std::vector{SendOf(1)}));
}

TEST_F(PromiseClaimTest, ReceivesHaveTheirOwn) {
  EXPECT_TRUE(Claims(std::vector(6, ReceiveOf(3))));
  EXPECT_EQ(promise_.receives, 6u);
  EXPECT_FALSE(Claims(std::vector{ReceiveOf(1)}));
  EXPECT_EQ(promise_.sends, 0u);
}

TEST_F(PromiseClaimTest, IsGivenBack) {
  ASSERT_TRUE(Claims(std::vector(4, SendOf(1))));
  claim_.GiveBack();
  EXPECT_EQ(promise_.sends, 0u);
}

TEST_F(PromiseClaimTest, NumbersWrapAround) {
  promise_.sends = UINT32_MAX - 1;
  promise_.sends_until = 1;
  EXPECT_TRUE(Claims(std::vector(3, SendOf(1))));
  EXPECT_EQ(promise_.sends, 1u);
  EXPECT_FALSE(Claims(std::vector{SendOf(1)}));
}

TEST_F(PromiseClaimTest, IsOfTheQueuePairThatIsThere) {
  const uint32_t other = kQp + UverbsRingMemory::kQueuePairs;
  EXPECT_FALSE(Claims(std::vector{SendOf(1)}, other));
  promise_.queue_pair = 0;
  EXPECT_FALSE(Claims(std::vector{SendOf(1)}));
}

TEST_F(PromiseClaimTest, IsNotForRequestsThatWouldBeRefused) {
  EXPECT_FALSE(Claims(std::vector{SendOf(3)})) << "too many SGEs";
  EXPECT_FALSE(Claims(std::vector{ReceiveOf(4)})) << "too many SGEs";
  EXPECT_FALSE(Claims(std::vector{SendOf(1), SendOf(3)}));
  EXPECT_FALSE(Claims(std::vector{SendOf(1, IB_UVERBS_WR_RDMA_READ)}))
      << "not of this type";
  EXPECT_TRUE(Claims(std::vector{SendOf(1, IB_UVERBS_WR_RDMA_WRITE)}));
  EXPECT_FALSE(Claims(std::vector<ib_uverbs_send_wr>())) << "of nothing";
}

TEST_F(PromiseClaimTest, IsNotForTooMuchInlineData) {
  EXPECT_TRUE(Claims(std::vector{SendOf(1, IB_UVERBS_WR_SEND, kInlineFlag)}));
  EXPECT_FALSE(Claims(std::vector{SendOf(2, IB_UVERBS_WR_SEND, kInlineFlag)}));
}

TEST_F(PromiseClaimTest, IsNotForListsThatSayMoreThanTheyHave) {
  const CommandBytes whole = Post(std::vector{SendOf(1), SendOf(2)});
  for (size_t size = sizeof(ib_uverbs_cmd_hdr) + sizeof(ib_uverbs_post_recv);
       size < whole.size(); ++size) {
    EXPECT_FALSE(ClaimsAll<ib_uverbs_send_wr>(std::span(whole).first(size)))
        << size;
  }
  EXPECT_EQ(promise_.sends, 0u);
  CommandBytes fewer = whole;
  constexpr size_t kSges =
      sizeof(ib_uverbs_cmd_hdr) + offsetof(ib_uverbs_post_recv, sge_count);
  fewer[kSges] = std::byte{2};
  EXPECT_FALSE(ClaimsAll<ib_uverbs_send_wr>(fewer));
  CommandBytes smaller = whole;
  constexpr size_t kSize =
      sizeof(ib_uverbs_cmd_hdr) + offsetof(ib_uverbs_post_recv, wqe_size);
  smaller[kSize] = std::byte{8};
  EXPECT_FALSE(ClaimsAll<ib_uverbs_send_wr>(smaller));
}

}  // namespace
}  // namespace ibemu::fast_path
