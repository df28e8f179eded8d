#include "base/random.h"

#include "gtest/gtest.h"

namespace ibemu {
namespace {

TEST(RandomTest, TheSameSeedAndNameGiveTheSameNumbers) {
  Random a = Random::ForStream(7, "sw1/3");
  Random b = Random::ForStream(7, "sw1/3");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.Next(), b.Next());
}

TEST(RandomTest, AnotherNameOrSeedGivesOtherNumbers) {
  const uint64_t first = Random::ForStream(7, "sw1/3").Next();
  EXPECT_NE(first, Random::ForStream(7, "sw1/4").Next());
  EXPECT_NE(first, Random::ForStream(8, "sw1/3").Next());
}

TEST(RandomTest, ChanceIsExactAtBothEndsAndFairBetween) {
  Random random(1);
  int hits = 0;
  for (int i = 0; i < 100'000; ++i) {
    EXPECT_FALSE(random.Chance(0));
    EXPECT_TRUE(random.Chance(1));
    hits += random.Chance(0.2);
  }
  EXPECT_NEAR(hits, 20'000, 500);
}

TEST(RandomTest, BelowStaysBelow) {
  Random random(1);
  for (int i = 0; i < 1000; ++i) EXPECT_LT(random.Below(7), 7u);
}

}  // namespace
}  // namespace ibemu
