#include "fabric/faults/bit_errors.h"

#include <gtest/gtest.h>

namespace ibemu::fabric {
namespace {

uint64_t CountIn(BitErrors& errors, int packets, uint64_t bits) {
  uint64_t count = 0;
  for (int i = 0; i < packets; ++i) count += errors.Count(bits);
  return count;
}

TEST(BitErrorsTest, AreAsManyAsTheRateSays) {
  BitErrors errors(1e-4, Random(7));
  EXPECT_NEAR(CountIn(errors, 10'000, 1000), 1000, 130);
}

TEST(BitErrorsTest, DependOnTheBitsAloneNotOnHowTheyArePacked) {
  BitErrors in_small_packets(1e-3, Random(7));
  BitErrors in_large_ones(1e-3, Random(7));
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(CountIn(in_small_packets, 64, 100),
              CountIn(in_large_ones, 2, 3200));
  }
}

TEST(BitErrorsTest, NeverComeAtRateZeroAndAlwaysAtOne) {
  BitErrors none(0, Random(7));
  BitErrors all(1, Random(7));
  EXPECT_EQ(CountIn(none, 1000, uint64_t{1} << 40), 0u);
  EXPECT_EQ(CountIn(all, 1, 1000), 1000u);
}

TEST(BitErrorsTest, OfAGoodCableTakeTerabitsToCome) {
  BitErrors errors(1e-12, Random(7));
  const uint64_t terabit = 1'000'000'000'000;
  const uint64_t count = CountIn(errors, 100, terabit);
  EXPECT_NEAR(count, 100, 40);
}

}  // namespace
}  // namespace ibemu::fabric
