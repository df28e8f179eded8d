#include "wire/rnr_timer.h"

#include <gtest/gtest.h>

namespace ibemu::wire {
namespace {

TEST(RnrTimerTest, HasTheDelaysOfTheTable) {
  EXPECT_EQ(RnrMicroseconds(0), 655'360);
  EXPECT_EQ(RnrMicroseconds(1), 10);
  EXPECT_EQ(RnrMicroseconds(12), 640);
  EXPECT_EQ(RnrMicroseconds(31), 491'520);
}

TEST(RnrTimerTest, GrowsWithTheCodeExceptForZero) {
  for (uint8_t code = 2; code < 32; ++code) {
    EXPECT_GT(RnrMicroseconds(code),
              RnrMicroseconds(static_cast<uint8_t>(code - 1)))
        << int{code};
    EXPECT_LT(RnrMicroseconds(code), RnrMicroseconds(0)) << int{code};
  }
}

TEST(RnrTimerTest, IgnoresTheUpperBitsOfTheByte) {
  EXPECT_EQ(RnrMicroseconds(0xe0 | 5), RnrMicroseconds(5));
}

}  // namespace
}  // namespace ibemu::wire
