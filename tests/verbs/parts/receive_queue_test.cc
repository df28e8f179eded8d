#include "verbs/parts/receive_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace ibemu::verbs {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty;

std::vector<verbs::ReceiveRequest> Requests(uint64_t first, size_t count,
                                            size_t sges = 1) {
  std::vector<verbs::ReceiveRequest> requests(count);
  for (verbs::ReceiveRequest& request : requests) {
    request.id = first++;
    request.sges.resize(sges);
  }
  return requests;
}

TEST(ReceiveQueueTest, GivesRequestsBackInTheirOrder) {
  ReceiveQueue queue(4, 2);
  auto requests = Requests(10, 2);
  size_t taken = 0;
  ASSERT_TRUE(queue.Post(requests, taken).ok());
  EXPECT_EQ(taken, 2u);
  EXPECT_EQ(queue.Take()->id, 10u);
  EXPECT_EQ(queue.Take()->id, 11u);
  EXPECT_FALSE(queue.Take().has_value());
}

TEST(ReceiveQueueTest, TakesUntilItIsFull) {
  ReceiveQueue queue(3, 2);
  auto requests = Requests(0, 5);
  size_t taken = 0;
  EXPECT_TRUE(absl::IsResourceExhausted(queue.Post(requests, taken)));
  EXPECT_EQ(taken, 3u);
  EXPECT_EQ(queue.size(), 3u);
}

TEST(ReceiveQueueTest, RefusesMorePiecesThanItHas) {
  ReceiveQueue queue(3, 2);
  auto requests = Requests(0, 1);
  requests.push_back(std::move(Requests(1, 1, 3)[0]));
  size_t taken = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(queue.Post(requests, taken)));
  EXPECT_EQ(taken, 1u) << "the first was in order";
}

TEST(ReceiveQueueTest, WhatIsPutBackComesFirst) {
  ReceiveQueue queue(3, 1);
  auto requests = Requests(0, 3);
  size_t taken = 0;
  ASSERT_TRUE(queue.Post(requests, taken).ok());
  queue.PutBack(*queue.Take());
  EXPECT_EQ(queue.Take()->id, 0u);
}

class SharedReceiveQueueTest : public ::testing::Test,
                               private verbs::ObjectListener {
 protected:
  absl::Status Post(size_t count) {
    auto requests = Requests(0, count);
    size_t taken = 0;
    return queue_.PostReceive(requests, taken);
  }

  std::vector<verbs::AsyncEventType> events_;
  const verbs::Pd pd_{};
  SharedReceiveQueue queue_{
      pd_, {.max_requests = 10, .max_sges = 1, .limit = 0}, 20, *this};

 private:
  void OnEvent(verbs::AsyncEventType type) override { events_.push_back(type); }
};

TEST_F(SharedReceiveQueueTest, TellsOnceThatItFellBelowItsLimit) {
  ASSERT_TRUE(Post(5).ok());
  ASSERT_TRUE(queue_.SetLimit(4).ok());
  EXPECT_EQ(queue_.Query().limit, 4u);
  queue_.Take();
  EXPECT_THAT(events_, IsEmpty());
  queue_.Take();
  EXPECT_THAT(events_, ElementsAre(verbs::AsyncEventType::kSrqLimit));
  EXPECT_EQ(queue_.Query().limit, 0u) << "armed no more";
  queue_.Take();
  EXPECT_EQ(events_.size(), 1u);
}

TEST_F(SharedReceiveQueueTest, KeepsWhatIsInItWhenItIsResized) {
  ASSERT_TRUE(Post(5).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(queue_.Resize(4)));
  EXPECT_TRUE(absl::IsInvalidArgument(queue_.Resize(21)));
  ASSERT_TRUE(queue_.Resize(5).ok());
  EXPECT_EQ(queue_.Query().max_requests, 5u);
  EXPECT_TRUE(absl::IsResourceExhausted(Post(1)));
}

TEST_F(SharedReceiveQueueTest, HasNoLimitBeyondItsSize) {
  EXPECT_TRUE(absl::IsInvalidArgument(queue_.SetLimit(11)));
}

}  // namespace
}  // namespace ibemu::verbs
