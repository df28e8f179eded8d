#include "hca/mlx4/core/free_runs.h"

#include <gtest/gtest.h>

#include <optional>

namespace ibemu::hca::mlx4 {
namespace {

TEST(FreeRunsTest, GivesTheShortestThatIsLongEnoughAndOfThoseTheLowest) {
  FreeRuns runs;
  runs.Add(10, 5);
  runs.Add(20, 4);
  runs.Add(30, 4);
  runs.Add(40, 10);
  EXPECT_EQ(runs.Take(4), 20u);
  EXPECT_EQ(runs.Take(3), 30u);
  EXPECT_EQ(runs.Take(4), 10u);
  EXPECT_EQ(runs.Take(11), std::nullopt);
  EXPECT_EQ(runs.Take(10), 40u);
  EXPECT_EQ(runs.Take(1), 14u);
  EXPECT_EQ(runs.Take(1), 33u);
  EXPECT_EQ(runs.Take(1), std::nullopt);
}

TEST(FreeRunsTest, JoinsWhatComesBackInAnyOrder) {
  FreeRuns runs;
  runs.Add(0, 16);
  for (uint64_t step : {3, 5, 7}) {
    for (uint64_t i = 0; i < 16; ++i) ASSERT_EQ(runs.Take(1), i);
    for (uint64_t i = 0; i < 16; ++i) runs.Add(i * step % 16, 1);
    ASSERT_EQ(runs.Take(16), 0u);
    EXPECT_EQ(runs.Take(1), std::nullopt);
    runs.Add(0, 16);
  }
}

}  // namespace
}  // namespace ibemu::hca::mlx4
