#include "verbs/parts/queue_limit.h"

#include <gtest/gtest.h>

namespace ibemu::verbs {
namespace {

TEST(QueueLimitTest, IsTheSize) {
  const QueueLimit limit(4);
  EXPECT_FALSE(limit.IsFull(3));
  EXPECT_TRUE(limit.IsFull(4));
  EXPECT_EQ(limit.Free(3), 1u);
  EXPECT_EQ(limit.Free(4), 0u);
}

TEST(QueueLimitTest, IsExceededForWhatWasPromised) {
  QueueLimit limit(4);
  limit.MakeRoom(4, 2);
  EXPECT_FALSE(limit.IsFull(5));
  EXPECT_TRUE(limit.IsFull(6));
  EXPECT_EQ(limit.Free(5), 0u) << "no more is promised";
  EXPECT_EQ(limit.size(), 4u);
}

TEST(QueueLimitTest, IsExceededByItsSizeAtMost) {
  QueueLimit limit(4);
  limit.MakeRoom(6, 1000);
  EXPECT_TRUE(limit.IsFull(8));
}

TEST(QueueLimitTest, IsTheSizeAgainOnceTheQueueIsEmptier) {
  QueueLimit limit(4);
  limit.MakeRoom(4, 3);
  limit.Shrink(5);
  EXPECT_TRUE(limit.IsFull(5));
  limit.Shrink(0);
  EXPECT_FALSE(limit.IsFull(3));
  EXPECT_TRUE(limit.IsFull(4));
}

TEST(QueueLimitTest, RoomThatIsThereNeedNotBeMade) {
  QueueLimit limit(4);
  limit.MakeRoom(1, 1);
  EXPECT_TRUE(limit.IsFull(4));
  EXPECT_FALSE(limit.IsFull(3));
}

}  // namespace
}  // namespace ibemu::verbs
