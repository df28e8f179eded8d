#include "base/yield_backoff.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace ibemu {
namespace {

constexpr int64_t kShort = YieldBackoff::kLong - 1;
constexpr int64_t kSlice = 2'500'000;

// A waiter beside a process that only computes.
class YieldBackoffTest : public ::testing::Test {
 protected:
  void Yield(int64_t time) {
    backoff_.OnYield(now_, now_ + time);
    now_ += time;
  }

  // Lets the pause pass that there is now, and returns how long it was.
  int64_t Pause() {
    const int64_t begin = now_;
    while (!backoff_.MayYield(now_)) now_ += 500'000;
    return now_ - begin;
  }

  YieldBackoff backoff_;
  int64_t now_ = 1'000'000'000;
};

TEST_F(YieldBackoffTest, OneThatHasSeenNothingAllowsYields) {
  EXPECT_TRUE(backoff_.MayYield(0));
}

TEST_F(YieldBackoffTest, ShortYieldsMayFollowEachOther) {
  for (int i = 0; i < 1000; ++i) {
    Yield(kShort);
    ASSERT_TRUE(backoff_.MayYield(now_));
  }
}

TEST_F(YieldBackoffTest, ALongYieldIsTheLastForAWhile) {
  Yield(kSlice);
  EXPECT_FALSE(backoff_.MayYield(now_));
  EXPECT_EQ(Pause(), YieldBackoff::kShortestPause);
}

TEST_F(YieldBackoffTest, EachLongYieldInARowDoublesThePauseUpToALimit) {
  int64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    Yield(kSlice);
    const int64_t pause = Pause();
    EXPECT_TRUE(pause == 2 * last || pause == YieldBackoff::kLongestPause ||
                last == 0);
    last = pause;
  }
  EXPECT_EQ(last, YieldBackoff::kLongestPause);
}

TEST_F(YieldBackoffTest, BesideAHogLittleTimeIsLostByYields) {
  const int64_t begin = now_;
  int64_t lost = 0;
  while (now_ - begin < 10'000'000'000) {
    Yield(kSlice);
    lost += kSlice;
    Pause();
  }
  EXPECT_LT(lost, 100'000'000);
}

// A client that asks seldom yields seldom.
TEST_F(YieldBackoffTest, TimeWithoutYieldsForgetsNothing) {
  Yield(kSlice);
  now_ += 100'000'000;
  Yield(kSlice);
  EXPECT_EQ(Pause(), 2 * YieldBackoff::kShortestPause);
}

TEST_F(YieldBackoffTest, ManyShortYieldsForgetWhatWas) {
  for (int i = 0; i < 20; ++i) {
    Yield(kSlice);
    Pause();
  }
  for (uint32_t i = 0; i < YieldBackoff::kFew; ++i) Yield(kShort);
  Yield(kSlice);
  EXPECT_EQ(Pause(), YieldBackoff::kShortestPause);
}

}  // namespace
}  // namespace ibemu
