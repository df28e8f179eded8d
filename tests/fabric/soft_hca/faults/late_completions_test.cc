#include "fabric/soft_hca/faults/late_completions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "testing/virtual_timers.h"

namespace ibemu::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LateCompletionsTest : public ::testing::Test {
 protected:
  void Add(int number, absl::Duration delay) {
    late_.Add(delay, [this, number] { pushed_.push_back(number); });
  }

  testing::VirtualTimers timers_;
  LateCompletions late_{timers_};
  std::vector<int> pushed_;
};

TEST_F(LateCompletionsTest, NothingWaitsThatIsNotDelayed) {
  EXPECT_FALSE(late_.Delays(absl::ZeroDuration()));
  EXPECT_TRUE(late_.Delays(absl::Microseconds(1)));
}

TEST_F(LateCompletionsTest, ThoseBehindADelayedOneWaitForIt) {
  Add(1, absl::Milliseconds(5));
  EXPECT_TRUE(late_.Delays(absl::ZeroDuration()));
  Add(2, absl::ZeroDuration());
  Add(3, absl::Milliseconds(7));
  timers_.RunFor(absl::Milliseconds(4));
  EXPECT_THAT(pushed_, IsEmpty());
  timers_.RunFor(absl::Milliseconds(1));
  EXPECT_THAT(pushed_, ElementsAre(1, 2));
  timers_.RunFor(absl::Milliseconds(2));
  EXPECT_THAT(pushed_, ElementsAre(1, 2, 3));
  EXPECT_FALSE(late_.Delays(absl::ZeroDuration()));
}

TEST_F(LateCompletionsTest, AFlushEndsTheWaitAndAResetForgets) {
  Add(1, absl::Milliseconds(5));
  Add(2, absl::Milliseconds(5));
  late_.PushAll();
  EXPECT_THAT(pushed_, ElementsAre(1, 2));
  Add(3, absl::Milliseconds(5));
  late_.Clear();
  timers_.RunFor(absl::Seconds(1));
  EXPECT_THAT(pushed_, ElementsAre(1, 2));
}

TEST_F(LateCompletionsTest, TheOldestComesEarlierWhenTooManyWait) {
  for (size_t i = 0; i <= LateCompletions::kMax; ++i) {
    Add(static_cast<int>(i), absl::Seconds(5));
  }
  EXPECT_THAT(pushed_, ElementsAre(0));
  timers_.RunFor(absl::Seconds(5));
  EXPECT_THAT(pushed_, SizeIs(LateCompletions::kMax + 1));
}

TEST_F(LateCompletionsTest, WhatIsPushedMayFlushTheRest) {
  late_.Add(absl::Milliseconds(1), [this] { late_.PushAll(); });
  Add(2, absl::Milliseconds(1));
  timers_.RunFor(absl::Milliseconds(2));
  EXPECT_THAT(pushed_, ElementsAre(2));
}

}  // namespace
}  // namespace ibemu::fabric
