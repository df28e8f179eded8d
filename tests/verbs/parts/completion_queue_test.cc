#include "verbs/parts/completion_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "verbs/wc_status.h"

namespace ibemu::verbs {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty;

class CompletionQueueTest : public ::testing::Test, private verbs::CqListener {
 protected:
  bool Push(uint64_t id, bool solicited = false, uint32_t status = 0) {
    verbs::WorkCompletion completion{};
    completion.wr_id = id;
    completion.status = status;
    return queue_.Push(completion, solicited);
  }
  uint64_t Poll() {
    verbs::WorkCompletion completion{};
    EXPECT_EQ(queue_.Poll({&completion, 1}), 1u);
    return completion.wr_id;
  }

  std::vector<uint64_t> Peek(size_t first, size_t most) {
    std::vector<verbs::WaitingCompletion> found(most);
    found.resize(queue_.Peek(first, found));
    std::vector<uint64_t> ids;
    for (const auto& one : found) ids.push_back(one.completion.wr_id);
    return ids;
  }
  uint32_t FreesSends(size_t number) {
    verbs::WaitingCompletion found;
    EXPECT_EQ(queue_.Peek(number, {&found, 1}), 1u);
    return found.frees_sends;
  }

  int notices_ = 0, errors_ = 0, arrivals_ = 0;
  size_t taken_ = 0;  // by the client
  size_t waiting_at_drop_ = 0;
  CompletionQueue queue_{3, 10, *this};

 private:
  void OnArrival() override { ++arrivals_; }
  void OnCompletion() override { ++notices_; }
  size_t taken() const override { return taken_; }
  void OnDrop() override { waiting_at_drop_ = queue_.waiting(); }
  void OnEvent(verbs::AsyncEventType type) override {
    EXPECT_EQ(type, verbs::AsyncEventType::kCqError);
    ++errors_;
  }
};

TEST_F(CompletionQueueTest, GivesTheOldestFirst) {
  Push(1);
  Push(2);
  EXPECT_EQ(Poll(), 1u);
  EXPECT_EQ(Poll(), 2u);
  verbs::WorkCompletion none{};
  EXPECT_EQ(queue_.Poll({&none, 1}), 0u);
}

TEST_F(CompletionQueueTest, KnowsWhatWaitsWhereNothingWasEverPolled) {
  EXPECT_EQ(queue_.unpolled(), 0u);
  Push(1);
  Push(2);
  EXPECT_EQ(queue_.unpolled(), 2u);
  Poll();
  EXPECT_EQ(queue_.unpolled(), 0u);
}

TEST_F(CompletionQueueTest, ShowsWhatWillBePolled) {
  EXPECT_THAT(Peek(0, 2), IsEmpty());
  Push(1);
  Push(2);
  Push(3);
  EXPECT_THAT(Peek(0, 2), ElementsAre(1u, 2u));
  EXPECT_THAT(Peek(1, 5), ElementsAre(2u, 3u));
  EXPECT_THAT(Peek(3, 5), IsEmpty());
  EXPECT_EQ(Poll(), 1u);
}

// The second request was unsignaled.
TEST_F(CompletionQueueTest, KnowsHowManySendsEachCompletionFrees) {
  SendQueueEntries sends(4);
  const uint64_t first = sends.Take();
  sends.Take();
  const uint64_t third = sends.Take();
  queue_.PushSend({}, sends, first);
  queue_.PushSend({}, sends, third);
  EXPECT_EQ(FreesSends(0), 1u);
  EXPECT_EQ(FreesSends(1), 2u);
  Poll();
  EXPECT_EQ(sends.free(), 2u);
  sends.FreeAll();
  queue_.PushSend({}, sends, sends.Take());
  EXPECT_EQ(FreesSends(1), 1u) << "after a reset";
}

TEST_F(CompletionQueueTest, DoesNotCountWhatTheClientHasTaken) {
  Push(1);
  Push(2);
  taken_ = 1;
  EXPECT_EQ(queue_.waiting(), 1u);
  EXPECT_EQ(queue_.unpolled(), 0u) << "it polls, in its way";
  EXPECT_TRUE(queue_.Resize(1).ok());
  EXPECT_FALSE(Push(3)) << "one waits, which is its size";
  EXPECT_EQ(errors_, 1);
}

TEST_F(CompletionQueueTest, HasRoomForAsManyAsTheClientHasTaken) {
  Push(1);
  Push(2);
  Push(3);
  taken_ = 2;
  EXPECT_TRUE(Push(4));
  EXPECT_TRUE(Push(5));
  EXPECT_FALSE(Push(6));
}

TEST_F(CompletionQueueTest, NotifiesOfNothingThatTheClientHasTaken) {
  Push(1);
  taken_ = 1;
  queue_.RequestNotify(false);
  EXPECT_EQ(notices_, 0);
}

TEST_F(CompletionQueueTest, TellsBeforeItDropsCompletions) {
  Push(1);
  Push(2);
  queue_.Forget(0);
  EXPECT_EQ(waiting_at_drop_, 2u);
  EXPECT_EQ(queue_.waiting(), 0u);
}

TEST_F(CompletionQueueTest, NotifiesOnceForEachRequest) {
  queue_.RequestNotify(false);
  EXPECT_EQ(notices_, 0);
  Push(1);
  Push(2);
  EXPECT_EQ(notices_, 1);
  EXPECT_EQ(arrivals_, 2);
}

TEST_F(CompletionQueueTest, NotifiesAtOnceOfWhatWasNotPolled) {
  Push(1);
  queue_.RequestNotify(false);
  EXPECT_EQ(notices_, 1);
  EXPECT_EQ(arrivals_, 1);
  Push(2);
  EXPECT_EQ(notices_, 1) << "the request was answered";
  Poll();
  queue_.RequestNotify(false);
  EXPECT_EQ(notices_, 2) << "one is left";
  Poll();
  queue_.RequestNotify(false);
  EXPECT_EQ(notices_, 2) << "none is left";
}

TEST_F(CompletionQueueTest, NotifiesAtOnceOfASolicitedOrFailedOne) {
  Push(1);
  queue_.RequestNotify(true);
  EXPECT_EQ(notices_, 0) << "it was neither";
  Push(2, true);
  EXPECT_EQ(notices_, 1);
  queue_.RequestNotify(true);
  EXPECT_EQ(notices_, 2) << "it was not polled";
  Poll();
  Poll();
  Push(3);
  queue_.RequestNotify(true);
  EXPECT_EQ(notices_, 2) << "the solicited one was polled";
  Push(4, false, 5);
  EXPECT_EQ(notices_, 3);
  queue_.RequestNotify(true);
  EXPECT_EQ(notices_, 4) << "the failed one was not polled";
}

TEST_F(CompletionQueueTest, AsksWhatIsSolicitedOnlyIfSomebodyWantsToKnow) {
  struct OnlyTheSecond : SolicitedEvents {
    bool MayBeSolicited(uint32_t index) override {
      asked.push_back(index);
      return index <= 2;
    }
    std::vector<uint32_t> asked;
  } events;
  for (const uint32_t index : {1, 2, 3}) {
    queue_.PushReceive({}, events, index);
  }
  queue_.RequestNotify(false);
  EXPECT_EQ(notices_, 1);
  EXPECT_EQ(events.asked, std::vector<uint32_t>{});
  queue_.RequestNotify(true);
  EXPECT_EQ(notices_, 2);
  EXPECT_EQ(events.asked, (std::vector<uint32_t>{3, 2}));
  Poll();
  Poll();
  queue_.RequestNotify(true);
  EXPECT_EQ(notices_, 2) << "the third is not solicited";
  Poll();
  queue_.PushReceive({}, events, 4);
  EXPECT_EQ(notices_, 2);
  queue_.PushReceive({}, events, 2);
  EXPECT_EQ(notices_, 3);
}

TEST_F(CompletionQueueTest, NotifiesAtOnceWhenAWishIsWidened) {
  queue_.RequestNotify(true);
  Push(1);
  EXPECT_EQ(notices_, 0);
  queue_.RequestNotify(false);
  EXPECT_EQ(notices_, 1);
}

TEST_F(CompletionQueueTest, WaitsForASolicitedOrFailedOne) {
  queue_.RequestNotify(true);
  Push(1);
  EXPECT_EQ(notices_, 0);
  Push(2, true);
  EXPECT_EQ(notices_, 1);
  Poll();
  Poll();
  queue_.RequestNotify(true);
  Push(3, false, 5);
  EXPECT_EQ(notices_, 2);
}

TEST_F(CompletionQueueTest, DoesNotNarrowAWish) {
  queue_.RequestNotify(false);
  queue_.RequestNotify(true);
  Push(1);
  EXPECT_EQ(notices_, 1);
}

TEST_F(CompletionQueueTest, SaysThatItIsOverrun) {
  for (uint64_t id = 1; id <= 3; ++id) EXPECT_TRUE(Push(id));
  EXPECT_FALSE(Push(4));
  EXPECT_FALSE(Push(5));
  EXPECT_EQ(errors_, 1);
  EXPECT_EQ(Poll(), 1u);
  EXPECT_FALSE(Push(6)) << "it is in error, although there is room";
}

TEST_F(CompletionQueueTest, ForgetsTheCompletionsOfOneQueuePair) {
  for (const uint32_t number : {1, 2, 1}) {
    verbs::WorkCompletion completion{};
    completion.wr_id = completion.qp_num = number;
    queue_.Push(completion, /*solicited=*/number == 1);
  }
  queue_.Forget(1);
  queue_.RequestNotify(true);
  EXPECT_EQ(notices_, 0) << "the solicited ones are gone";
  EXPECT_EQ(Poll(), 2u);
}

TEST_F(CompletionQueueTest, APolledSendFreesTheEntriesUpToItsOwn) {
  SendQueueEntries entries(3);
  entries.Take();
  const uint64_t second = entries.Take();
  entries.Take();
  EXPECT_TRUE(entries.full());
  queue_.PushSend({}, entries, second);
  EXPECT_TRUE(entries.full()) << "it was not polled";
  Poll();
  entries.Take();
  EXPECT_FALSE(entries.full());
  entries.Take();
  EXPECT_TRUE(entries.full());
  entries.FreeAll();
  EXPECT_FALSE(entries.full());
}

TEST_F(CompletionQueueTest, ResizesWithinItsLimits) {
  Push(1);
  Push(2);
  EXPECT_FALSE(queue_.Resize(1).ok());
  EXPECT_FALSE(queue_.Resize(11).ok());
  EXPECT_FALSE(queue_.Resize(0).ok());
  EXPECT_TRUE(queue_.Resize(2).ok());
  EXPECT_EQ(queue_.size(), 2u);
}

TEST_F(CompletionQueueTest, GivesAFailureTheVendorsNumberUnlessItHasOne) {
  for (const uint32_t given : {0u, 0x83u}) {
    verbs::WorkCompletion completion{};
    completion.status = verbs::wc_status::kRetriesExceeded;
    completion.vendor_err = given;
    ASSERT_TRUE(queue_.Push(completion, false));
  }
  Push(1);
  std::vector<verbs::WorkCompletion> polled(3);
  ASSERT_EQ(queue_.Poll(polled), 3u);
  EXPECT_EQ(polled[0].vendor_err, 0x81u);
  EXPECT_EQ(polled[1].vendor_err, 0x83u);
  EXPECT_EQ(polled[2].vendor_err, 0u);
}

}  // namespace
}  // namespace ibemu::verbs
