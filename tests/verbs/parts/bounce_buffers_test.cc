#include "verbs/parts/bounce_buffers.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <vector>

namespace ibemu::verbs {
namespace {

TEST(BounceBuffersTest, AreAsLongAsAskedFor) {
  BounceBuffers buffers;
  for (const size_t size : {size_t{0}, size_t{1}, kChunk - 1, kChunk}) {
    EXPECT_EQ(buffers.Take(size)->size(), size);
  }
}

TEST(BounceBuffersTest, WholeChunksAreUsedAgainOnlyWhenNobodyHasThem) {
  BounceBuffers buffers;
  verbs::Buffer first = buffers.Take(kChunk);
  const verbs::Buffer second = buffers.Take(kChunk);
  EXPECT_NE(first->data(), second->data());
  const std::byte* const place = first->data();
  const verbs::Buffer kept = first;
  first = nullptr;
  EXPECT_NE(buffers.Take(kChunk)->data(), place);
}

TEST(BounceBuffersTest, ComeBackFromAnyThread) {
  BounceBuffers buffers;
  verbs::Buffer taken = buffers.Take(kChunk);
  const std::byte* const place = taken->data();
  std::thread([moved = std::move(taken)]() mutable { moved = nullptr; }).join();
  EXPECT_EQ(buffers.Take(kChunk)->data(), place);
}

TEST(BounceBuffersTest, MayComeBackWhenTheirOwnerHasEnded) {
  std::optional<BounceBuffers> buffers(std::in_place);
  const verbs::Buffer taken = buffers->Take(kChunk);
  buffers.reset();
  EXPECT_EQ(taken->size(), kChunk);
}

}  // namespace
}  // namespace ibemu::verbs
