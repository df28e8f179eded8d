#include "hca/mlx4/verbs/dma_pool.h"

#include <gtest/gtest.h>

#include <vector>

#include "testing/virtual_timers.h"
#include "tests/hca/scripted_adapter.h"

namespace ibemu::hca::mlx4 {
namespace {

class DmaPoolTest : public ::testing::Test {
 protected:
  using Share = std::shared_ptr<DmaPool::Share>;
  using Buffers = std::vector<std::unique_ptr<DmaPool::Buffer>>;

  // As many pieces as it may have.
  Buffers TakeAll(const Share& share) {
    Buffers all;
    for (;;) {
      auto buffer = pool_->Take(share, DmaPool::kArena);
      if (!buffer.ok()) return all;
      all.push_back(*std::move(buffer));
    }
  }

  ScriptedAdapter function_;
  testing::VirtualTimers timers_;
  std::unique_ptr<DmaPool> pool_ =
      std::make_unique<DmaPool>(function_, timers_, 4 * DmaPool::kArena);
  const Share share_ = *pool_->ShareOf(1);
};

TEST_F(DmaPoolTest, GivesPartsThatDoNotTouch) {
  const auto a = *pool_->Take(share_, 100);
  const auto b = *pool_->Take(share_, 100);
  EXPECT_EQ(a->bytes().size(), 100u);
  EXPECT_EQ(reinterpret_cast<uint64_t>(a->bytes().data()), a->iova());
  EXPECT_GE(b->iova(), a->iova() + 100);
  EXPECT_EQ(b->iova() % 64, a->iova() % 64);
}

TEST_F(DmaPoolTest, GivesOneAloneHalfOfWhatIsForAllAndAPieceOfItsOwn) {
  Buffers all = TakeAll(share_);
  EXPECT_EQ(all.size(), 3u);
  EXPECT_TRUE(absl::IsResourceExhausted(pool_->Take(share_, 1).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(pool_->Take(share_, 0).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      pool_->Take(share_, DmaPool::kArena + 1).status()));
  all.pop_back();
  EXPECT_TRUE(pool_->Take(share_, DmaPool::kArena).ok());
}

TEST_F(DmaPoolTest, GivesEachOfManyTheLongestWhateverOthersKeep) {
  std::vector<Buffers> kept;
  std::vector<Share> shares;
  for (uint64_t process = 2; process < 12; ++process) {
    shares.push_back(*pool_->ShareOf(process));
    kept.push_back(TakeAll(shares.back()));
    EXPECT_GE(kept.back().size(), 1u);
  }
}

TEST_F(DmaPoolTest, KeepsAPieceWholeForWhoUsesLittle) {
  std::vector<Share> others;
  Buffers little;
  for (int i = 0; i < 100; ++i) little.push_back(*pool_->Take(share_, 1000));
  std::vector<Buffers> kept;
  for (uint64_t process = 2; process < 5; ++process) {
    others.push_back(*pool_->ShareOf(process));
    kept.push_back(TakeAll(others.back()));
  }
  EXPECT_TRUE(pool_->Take(share_, DmaPool::kArena).ok());
}

TEST_F(DmaPoolTest, AProcessHasOneShareAndThereAreNotMoreThanItsPieces) {
  EXPECT_EQ(*pool_->ShareOf(1), share_);
  std::vector<Share> shares;
  for (uint64_t process = 2; process <= DmaPool::kMaxShares; ++process) {
    shares.push_back(*pool_->ShareOf(process));
  }
  EXPECT_TRUE(absl::IsResourceExhausted(pool_->ShareOf(0).status()));
  auto buffer = *pool_->Take(shares.back(), 10);
  shares.pop_back();
  EXPECT_TRUE(absl::IsResourceExhausted(pool_->ShareOf(0).status()))
      << "somebody has something of it";
  buffer.reset();
  EXPECT_TRUE(pool_->ShareOf(0).ok());
}

TEST_F(DmaPoolTest, TakesNothingForGood) {
  // Of any length, in any order, again and again.
  Buffers all;
  for (size_t round = 0; round < 50; ++round) {
    for (size_t i = 0; i < 20; ++i) {
      all.push_back(*pool_->Take(share_, 1 + i * 997));
    }
    for (size_t i = 0; i < all.size(); i += 2) all[i].reset();
    all.clear();
  }
  EXPECT_EQ(pool_->in_use(), 0u);
  EXPECT_EQ(TakeAll(share_).size(), 3u);
}

TEST_F(DmaPoolTest, CallsOnceWhenSomethingComesBack) {
  auto buffer = *pool_->Take(share_, 10);
  int calls = 0;
  pool_->CallWhenReturned(this, [&calls] { ++calls; });
  buffer.reset();
  EXPECT_EQ(calls, 0) << "not from within";
  timers_.RunPending();
  EXPECT_EQ(calls, 1);
  buffer = *pool_->Take(share_, 10);
  buffer.reset();
  timers_.RunPending();
  EXPECT_EQ(calls, 1);
}

TEST_F(DmaPoolTest, CallsNobodyTwiceNorWhoWaitsNoMore) {
  auto buffer = *pool_->Take(share_, 10);
  int calls = 0, others = 0;
  pool_->CallWhenReturned(this, [&calls] { ++calls; });
  pool_->CallWhenReturned(this, [&calls] { ++calls; });
  pool_->CallWhenReturned(&others, [&others] { ++others; });
  pool_->StopWaiting(&others);
  buffer.reset();
  timers_.RunPending();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(others, 0);
}

TEST_F(DmaPoolTest, WhatIsTakenMayOutliveIt) {
  Buffers all = TakeAll(share_);
  ASSERT_EQ(all.size(), 3u);
  pool_.reset();
  all.clear();
}

}  // namespace
}  // namespace ibemu::hca::mlx4
