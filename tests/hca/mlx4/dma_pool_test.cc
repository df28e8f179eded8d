#include "hca/mlx4/dma_pool.h"

#include <gtest/gtest.h>

#include <vector>

#include "testing/virtual_timers.h"
#include "tests/hca/mlx4/scripted_adapter.h"

namespace ibemu::hca::mlx4 {
namespace {

class DmaPoolTest : public ::testing::Test {
 protected:
  ScriptedAdapter function_;
  testing::VirtualTimers timers_;
  DmaPool pool_{function_, timers_, 2 * DmaPool::kArena};
};

TEST_F(DmaPoolTest, GivesPartsThatDoNotTouch) {
  const auto a = *pool_.Take(100);
  const auto b = *pool_.Take(100);
  EXPECT_EQ(a->bytes().size(), 100u);
  EXPECT_EQ(reinterpret_cast<uint64_t>(a->bytes().data()), a->iova());
  EXPECT_GE(b->iova(), a->iova() + 100);
  EXPECT_EQ(b->iova() % 64, a->iova() % 64);
}

TEST_F(DmaPoolTest, EndsWhereItWasTold) {
  std::vector<std::unique_ptr<DmaPool::Buffer>> all;
  all.push_back(*pool_.Take(DmaPool::kArena));
  all.push_back(*pool_.Take(DmaPool::kArena));
  EXPECT_TRUE(absl::IsResourceExhausted(pool_.Take(1).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(pool_.Take(0).status()));
  EXPECT_TRUE(
      absl::IsInvalidArgument(pool_.Take(DmaPool::kArena + 1).status()));
  all.pop_back();
  EXPECT_TRUE(pool_.Take(DmaPool::kArena).ok());
}

TEST_F(DmaPoolTest, TakesNothingForGood) {
  // Of any length, in any order, again and again.
  std::vector<std::unique_ptr<DmaPool::Buffer>> all;
  for (size_t round = 0; round < 50; ++round) {
    for (size_t i = 0; i < 20; ++i) all.push_back(*pool_.Take(1 + i * 997));
    for (size_t i = 0; i < all.size(); i += 2) all[i].reset();
    all.clear();
  }
  EXPECT_EQ(pool_.in_use(), 0u);
  EXPECT_TRUE(pool_.Take(DmaPool::kArena).ok());
}

TEST_F(DmaPoolTest, CallsOnceWhenSomethingComesBack) {
  auto buffer = *pool_.Take(10);
  int calls = 0;
  pool_.CallWhenReturned([&calls] { ++calls; });
  buffer.reset();
  EXPECT_EQ(calls, 0) << "not from within";
  timers_.RunPending();
  EXPECT_EQ(calls, 1);
  buffer = *pool_.Take(10);
  buffer.reset();
  timers_.RunPending();
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace ibemu::hca::mlx4
