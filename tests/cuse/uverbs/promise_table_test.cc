#include "cuse/uverbs/promise_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "tests/cuse/uverbs/promising_queue_pair.h"

namespace ibemu::cuse {
namespace {

constexpr uint32_t kPromisingQp = 5;

class PromiseTableTest : public ::testing::Test {
 protected:
  void Promise(size_t sends) {
    qp_.fake->free = verbs::QpPromise{.sends = sends};
    table_.Set(kPromisingQp, &qp_.object);
  }
  fast_path::QueuePairPromise& told() {
    return memory_->PromiseOf(kPromisingQp);
  }
  uint32_t SendsUntil() { return told().SendsUntil(told().queue_pair); }

  std::unique_ptr<fast_path::UverbsRingMemory> memory_ =
      std::make_unique<fast_path::UverbsRingMemory>();
  PromiseTable table_{memory_->queue_pairs};
  PromisingQueuePair qp_;
};

TEST_F(PromiseTableTest, KnowsTheNameThatIsTold) {
  EXPECT_EQ(table_.NameOfSender(kPromisingQp), 0u);
  Promise(1);
  EXPECT_EQ(table_.NameOfSender(kPromisingQp), told().queue_pair);
  EXPECT_EQ(table_.NameOfSender(kPromisingQp + PromiseTable::kPlaces), 0u);
  table_.Set(kPromisingQp, nullptr);
  EXPECT_EQ(table_.NameOfSender(kPromisingQp), 0u);
}

// The client takes a completion and posts before the daemon has seen that.
TEST_F(PromiseTableTest, TakesWhatACompletionHasFreed) {
  Promise(2);
  memory_->Free(told().queue_pair, 2);
  EXPECT_EQ(SendsUntil(), 4u);
  table_.OnFreed(told().queue_pair, 2);
  EXPECT_EQ(SendsUntil(), 4u) << "of its own accord nothing changes";
  Promise(4);
  EXPECT_EQ(SendsUntil(), 4u) << "the same four";
  EXPECT_TRUE(table_.CountSends(kPromisingQp, 4));
  EXPECT_FALSE(table_.CountSends(kPromisingQp, 1));
}

TEST_F(PromiseTableTest, PromisesLessForAMomentIfTheDaemonIsFaster) {
  Promise(2);
  table_.OnFreed(told().queue_pair, 2);
  Promise(4);
  EXPECT_EQ(SendsUntil(), 2u) << "the client has not counted its completion";
  memory_->Free(told().queue_pair, 2);
  EXPECT_EQ(SendsUntil(), 4u);
}

TEST_F(PromiseTableTest, ForgetsWhatAnEarlierQueuePairHasFreed) {
  Promise(2);
  const uint64_t earlier = told().queue_pair;
  table_.Set(kPromisingQp, nullptr);
  Promise(2);
  table_.OnFreed(earlier, 7);
  memory_->Free(earlier, 7);
  EXPECT_EQ(SendsUntil(), 2u);
  Promise(2);
  EXPECT_EQ(SendsUntil(), 2u);
}

// Datagrams, and adapters that promise nothing.
TEST_F(PromiseTableTest, HasNoNameForSendersThatAlwaysWait) {
  qp_.object.type = verbs::QpType::kUd;
  Promise(2);
  EXPECT_EQ(table_.NameOfSender(kPromisingQp), 0u);
  EXPECT_EQ(SendsUntil(), 0u);
  qp_.object.type = verbs::QpType::kRc;
  qp_.fake->free = std::nullopt;
  table_.Set(kPromisingQp, &qp_.object);
  EXPECT_EQ(table_.NameOfSender(kPromisingQp), 0u);
  EXPECT_EQ(SendsUntil(), 0u);
  EXPECT_TRUE(table_.Knows(kPromisingQp));
}

TEST_F(PromiseTableTest, CountsReceivesBesideSends) {
  qp_.fake->free = verbs::QpPromise{.sends = 1, .receives = 2};
  table_.Set(kPromisingQp, &qp_.object);
  EXPECT_TRUE(table_.CountReceives(kPromisingQp, 2));
  EXPECT_FALSE(table_.CountReceives(kPromisingQp, 1));
  EXPECT_TRUE(table_.CountSends(kPromisingQp, 1));
}

}  // namespace
}  // namespace ibemu::cuse
