#include "cuse/uverbs/completion_ring_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "fast_path/preload/completion_reader.h"

namespace ibemu::cuse {
namespace {

using fast_path::CompletionReader, fast_path::CompletionRing;
using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::SizeIs;
using Found = CompletionReader::Found;

constexpr uint32_t kRingQueue = 7;

// The daemon puts completions into the ring of a queue, and the client takes
// them.
class CompletionRingWriterTest : public ::testing::Test {
 protected:
  CompletionRingWriterTest() { writer_.SetQueue(kRingQueue); }

  void Add(uint64_t id) {
    verbs::WaitingCompletion one;
    one.completion.wr_id = id;
    writer_.Add(one, std::nullopt);
  }
  void Open() {
    writer_.Open();
    writer_.SetMore(false);
  }
  Found Take(size_t most) {
    CompletionReader reader;
    const Found found =
        reader.Take(memory_->RingOf(kRingQueue), kRingQueue, most);
    taken_.clear();
    for (const CompletionRing::Entry& entry : reader.entries()) {
      taken_.push_back(entry.completion.wr_id);
    }
    return found;
  }
  CompletionRing& ring() { return memory_->RingOf(kRingQueue); }

  std::unique_ptr<fast_path::UverbsRingMemory> memory_ =
      std::make_unique<fast_path::UverbsRingMemory>();
  PromiseTable promises_{memory_->queue_pairs};
  CompletionRingWriter writer_{memory_->RingOf(kRingQueue), promises_};
  std::vector<uint64_t> taken_;
};

TEST_F(CompletionRingWriterTest, GivesTheOldestFirst) {
  Open();
  Add(1);
  Add(2);
  Add(3);
  EXPECT_EQ(writer_.size(), 3u);
  EXPECT_EQ(Take(2), Found::kSome);
  EXPECT_THAT(taken_, ElementsAre(1u, 2u));
  EXPECT_EQ(writer_.taken(), 2u);
  EXPECT_EQ(Take(2), Found::kSome);
  EXPECT_THAT(taken_, ElementsAre(3u));
  EXPECT_EQ(Take(2), Found::kNone);
  EXPECT_THAT(taken_, IsEmpty());
}

TEST_F(CompletionRingWriterTest, HasRoomOnceItsCompletionsArePolled) {
  Open();
  for (uint64_t id = 0; id < CompletionRing::kEntries; ++id) Add(id);
  EXPECT_EQ(writer_.room(), 0u);
  EXPECT_EQ(Take(5), Found::kSome);
  EXPECT_EQ(writer_.room(), 0u) << "its queue still has them";
  writer_.OnPolled(5);
  EXPECT_EQ(writer_.room(), 5u);
  EXPECT_EQ(writer_.taken(), 0u);
  for (uint64_t id = 100; id < 105; ++id) Add(id);
  EXPECT_EQ(Take(100), Found::kSome);
  EXPECT_THAT(taken_, SizeIs(CompletionRing::kEntries));
  EXPECT_EQ(taken_.front(), 5u);
  EXPECT_EQ(taken_.back(), 104u);
}

TEST_F(CompletionRingWriterTest, SendsTheClientToTheDaemonForMore) {
  writer_.Open();
  EXPECT_EQ(Take(1), Found::kUnknown) << "until something else is said";
  Add(1);
  EXPECT_EQ(Take(1), Found::kSome);
  EXPECT_EQ(Take(1), Found::kUnknown);
  writer_.SetMore(false);
  EXPECT_EQ(Take(1), Found::kNone);
}

TEST_F(CompletionRingWriterTest, KeepsWhatWasTakenBeforeItWasClosed) {
  Open();
  Add(1);
  Add(2);
  EXPECT_EQ(Take(1), Found::kSome);
  writer_.Close();
  EXPECT_EQ(Take(1), Found::kUnknown);
  EXPECT_EQ(writer_.size(), 1u);
  EXPECT_EQ(writer_.taken(), 1u);
  writer_.OnPolled(1);
  Open();
  EXPECT_EQ(writer_.size(), 0u);
  Add(3);
  EXPECT_EQ(Take(4), Found::kSome);
  EXPECT_THAT(taken_, ElementsAre(3u));
}

TEST_F(CompletionRingWriterTest, IsOfOneQueueAtATime) {
  Open();
  Add(1);
  writer_.SetQueue(kRingQueue + 64);
  EXPECT_FALSE(writer_.is_open());
  Open();
  Add(2);
  EXPECT_EQ(Take(1), Found::kUnknown);
  writer_.SetQueue(std::nullopt);
  EXPECT_EQ(ring().queue, 0u);
}

TEST_F(CompletionRingWriterTest, NeverOpensAgainAtTheEnd) {
  Open();
  writer_.End();
  writer_.Open();
  EXPECT_FALSE(writer_.is_open());
  EXPECT_FALSE(writer_.broken());
}

TEST_F(CompletionRingWriterTest, SaysOfNoQueuePairWithoutAPlaceWhatIsFree) {
  verbs::WaitingCompletion one;
  one.frees_sends = 3;
  writer_.Open();
  writer_.Add(one, 5);
  CompletionReader reader;
  ASSERT_EQ(reader.Take(ring(), kRingQueue, 1), Found::kSome);
  EXPECT_EQ(reader.entries()[0].frees_sends, 0u);
}

// What the client may leave there, and what it may not.
class FalseConsumerTest : public CompletionRingWriterTest,
                          public ::testing::WithParamInterface<uint64_t> {};

TEST_P(FalseConsumerTest, IsNotBelieved) {
  Open();
  Add(1);
  Add(2);
  EXPECT_EQ(Take(1), Found::kSome);
  EXPECT_EQ(writer_.taken(), 1u);
  ring().consumer = GetParam();
  EXPECT_EQ(writer_.taken(), 1u) << "as when it was last right";
  EXPECT_TRUE(writer_.broken());
  EXPECT_FALSE(writer_.is_open());
  EXPECT_EQ(Take(1), Found::kUnknown);
}

INSTANTIATE_TEST_SUITE_P(
    All, FalseConsumerTest,
    ::testing::Values(CompletionRing::Consumer(1, 0),  // fewer than before
                      CompletionRing::Consumer(1, 3),  // more than there are
                      CompletionRing::Consumer(1, UINT32_MAX),
                      CompletionRing::Consumer(2, 1),
                      CompletionRing::Consumer(3, 1)));

TEST_F(CompletionRingWriterTest, DoesNotBelieveAFalseConsumerWhenItIsClosed) {
  Open();
  Add(1);
  ring().consumer = CompletionRing::Consumer(1, 9);
  writer_.Close();
  EXPECT_TRUE(writer_.broken());
  EXPECT_EQ(writer_.taken(), 0u);
}

// Two threads of a client take, while the daemon adds, closes and opens the
// ring: it then gives what nobody has taken again.
TEST_F(CompletionRingWriterTest, GivesEachCompletionToOneThread) {
  constexpr uint64_t kMax = 20000;
  std::atomic<bool> ended = false;
  std::vector<uint64_t> seen[2];
  std::vector<std::thread> threads;
  for (std::vector<uint64_t>& own : seen) {
    threads.emplace_back([this, &own, &ended] {
      while (true) {
        const bool last = ended.load();
        CompletionReader reader;
        const Found found = reader.Take(ring(), kRingQueue, 3);
        for (const CompletionRing::Entry& entry : reader.entries()) {
          own.push_back(entry.completion.wr_id);
        }
        if (last && found != Found::kSome) return;
        if (found != Found::kSome) std::this_thread::yield();
      }
    });
  }
  uint64_t oldest = 0;  // that the queue has
  Open();
  for (uint64_t turn = 0; oldest < kMax; ++turn) {
    if (turn % 5 == 0) writer_.Close();
    const size_t taken = writer_.taken();
    oldest += taken;
    writer_.OnPolled(taken);
    if (!writer_.is_open()) Open();
    while (writer_.room() > 0 && oldest + writer_.size() < kMax) {
      Add(oldest + writer_.size());
    }
    std::this_thread::yield();
  }
  ended = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(writer_.broken());
  std::vector<uint64_t> all;
  for (const std::vector<uint64_t>& own : seen) {
    EXPECT_TRUE(std::ranges::is_sorted(own)) << "each sees them in order";
    all.insert(all.end(), own.begin(), own.end());
  }
  std::ranges::sort(all);
  ASSERT_THAT(all, SizeIs(kMax));
  for (uint64_t id = 0; id < kMax; ++id) ASSERT_EQ(all[id], id);
}

}  // namespace
}  // namespace ibemu::cuse
