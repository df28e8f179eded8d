#include "hca/bus/range_pool.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace ibemu::hca {
namespace {

TEST(RangePoolTest, GivesTheLowestRunThatFits) {
  RangePool pool;
  pool.Add(10, 5);
  pool.Add(20, 10);
  EXPECT_EQ(pool.Take(6), 20u);
  EXPECT_EQ(pool.Take(5), 10u);
  EXPECT_EQ(pool.Take(5), std::nullopt);
  EXPECT_EQ(pool.Take(4), 26u);
  EXPECT_EQ(pool.Take(), std::nullopt);
}

TEST(RangePoolTest, KeepsWhatLiesBeforeAndBehindAnAlignedRun) {
  RangePool pool;
  pool.Add(3, 20);  // 3 to 22
  EXPECT_EQ(pool.Take(8, 8), 8u);
  std::vector<uint64_t> rest;
  while (const auto one = pool.Take()) rest.push_back(*one);
  EXPECT_EQ(rest,
            (std::vector<uint64_t>{3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22}));
}

TEST(RangePoolTest, JoinsWhatComesBack) {
  RangePool pool;
  pool.Add(0, 16);
  for (int round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < 16; ++i) ASSERT_EQ(pool.Take(), i);
    for (uint64_t i = 0; i < 16; i += 2) pool.Return(i);
    for (uint64_t i = 1; i < 16; i += 2) pool.Return(i);
    ASSERT_EQ(pool.Take(16, 16), 0u);
    pool.Return(0, 16);
  }
}

}  // namespace
}  // namespace ibemu::hca
