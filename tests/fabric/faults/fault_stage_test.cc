#include "fabric/faults/fault_stage.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ibemu::fabric {
namespace {

TEST(FaultStageTest, LosesAsManyAsItsChanceSays) {
  FaultStage stage({.loss = 0.25}, Random(7));
  int lost = 0;
  for (int i = 0; i < 10000; ++i) lost += stage.Decide().lost ? 1 : 0;
  EXPECT_NEAR(lost, 2500, 150);
}

TEST(FaultStageTest, LosesTheSamePacketsWhateverElseGoesWrong) {
  FaultStage one({.loss = 0.5}, Random(7));
  FaultStage other({.loss = 0.5, .corrupt = 0.5, .reorder = 0.5}, Random(7));
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(one.Decide().lost, other.Decide().lost);
  }
}

TEST(FaultStageTest, TheDelayVariesByTheJitterEitherWay) {
  FaultStage stage(
      {.delay = absl::Microseconds(10), .jitter = absl::Microseconds(2)},
      Random(7));
  absl::Duration least = absl::InfiniteDuration();
  absl::Duration most = absl::ZeroDuration();
  for (int i = 0; i < 1000; ++i) {
    const absl::Duration delay = stage.Decide().delay;
    least = std::min(least, delay);
    most = std::max(most, delay);
  }
  EXPECT_GE(least, absl::Microseconds(8));
  EXPECT_LT(least, absl::Nanoseconds(8100));
  EXPECT_LE(most, absl::Microseconds(12));
  EXPECT_GT(most, absl::Nanoseconds(11900));
}

TEST(FaultStageTest, NoJitterMakesAPacketArriveBeforeItLeaves) {
  FaultStage stage(
      {.delay = absl::Microseconds(1), .jitter = absl::Microseconds(5)},
      Random(7));
  for (int i = 0; i < 1000; ++i) {
    EXPECT_GE(stage.Decide().delay, absl::ZeroDuration());
  }
}

TEST(FaultStageTest, HoldsAReorderedPacketBack) {
  FaultStage stage({.reorder = 1, .reorder_by = absl::Milliseconds(3)},
                   Random(7));
  EXPECT_EQ(stage.Decide().held, absl::Milliseconds(3));
  EXPECT_EQ(stage.Decide().delay, absl::ZeroDuration());
}

}  // namespace
}  // namespace ibemu::fabric
