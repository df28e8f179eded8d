#include "verbs/uverbs/event_queue.h"

#include <gtest/gtest.h>

#include "verbs/uverbs/command.h"

namespace ibemu::verbs {
namespace {

class EventQueueTest : public ::testing::Test {
 protected:
  void Push(uint64_t value, uint32_t* delivered = nullptr) {
    queue_.Push(AsBytes(value), delivered);
  }
  uint64_t Take() {
    const auto bytes = queue_.Take();
    return ReadAs<uint64_t>(bytes);
  }

  EventQueue queue_{sizeof(uint64_t)};
};

TEST_F(EventQueueTest, GivesEventsInTheOrderOfTheirComing) {
  Push(1);
  Push(2);
  EXPECT_EQ(Take(), 1u);
  EXPECT_EQ(Take(), 2u);
  EXPECT_TRUE(queue_.empty());
}

TEST_F(EventQueueTest, CountsWhatWasReadForEachObject) {
  uint32_t a = 0, b = 0;
  Push(1, &a);
  Push(2, &b);
  Push(3, &a);
  EXPECT_EQ(a, 0u);
  Take();
  Take();
  Take();
  EXPECT_EQ(a, 2u);
  EXPECT_EQ(b, 1u);
}

TEST_F(EventQueueTest, ForgetsTheEventsOfAnObjectThatEnds) {
  uint32_t a = 0, b = 0;
  Push(1, &a);
  Push(2, &b);
  Push(3, &a);
  queue_.Forget(&a);
  EXPECT_EQ(Take(), 2u);
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(a, 0u);
}

TEST_F(EventQueueTest, TellsItsListenerOfEachEvent) {
  int told = 0;
  queue_.SetListener([&told] { ++told; });
  Push(1);
  Push(2);
  EXPECT_EQ(told, 2);
}

TEST_F(EventQueueTest, DropsEverythingOnceItIsClosed) {
  Push(1);
  queue_.Close();
  EXPECT_TRUE(queue_.empty());
  Push(2);
  EXPECT_TRUE(queue_.empty());
  EXPECT_TRUE(queue_.closed());
}

}  // namespace
}  // namespace ibemu::verbs
