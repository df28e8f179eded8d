#include "fabric/faults/link_flap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "testing/virtual_timers.h"

namespace ibemu::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr absl::Duration kPeriod = absl::Seconds(2);
constexpr absl::Duration kDown = absl::Milliseconds(100);

struct LinkFlapTest : ::testing::Test {
  // The times of cuts and of restores, in milliseconds.
  void Flap(const FlapPlan& plan, uint64_t seed = 1) {
    flap =
        std::make_unique<LinkFlap>(timers, plan, Random(seed), [this](bool up) {
          if (up == this->up) return false;
          this->up = up;
          times.push_back(
              absl::ToInt64Milliseconds(timers.Now() - absl::UnixEpoch()));
          return true;
        });
  }

  testing::VirtualTimers timers;
  bool up = true;
  std::vector<int64_t> times;
  std::unique_ptr<LinkFlap> flap;
};

TEST_F(LinkFlapTest, CutsAndRestoresOnceInAPeriod) {
  Flap({.period = kPeriod, .down = kDown});
  timers.RunFor(absl::Seconds(7));
  EXPECT_THAT(times, ElementsAre(2000, 2100, 4000, 4100, 6000, 6100));
  EXPECT_EQ(flap->cuts(), 3u);
}

TEST_F(LinkFlapTest, WhoeverTakesItAwayFindsTheLinkUp) {
  Flap({.period = kPeriod, .down = kDown});
  timers.RunFor(absl::Milliseconds(2050));
  EXPECT_FALSE(up);
  flap.reset();
  EXPECT_TRUE(up);
  EXPECT_TRUE(timers.idle());
}

TEST_F(LinkFlapTest, WhatSomebodyElseHasCutStaysCut) {
  Flap({.period = kPeriod, .down = kDown});
  up = false;
  timers.RunFor(absl::Seconds(3));
  EXPECT_FALSE(up);
  EXPECT_EQ(flap->cuts(), 0u);
  up = true;
  timers.RunFor(absl::Seconds(2));
  EXPECT_THAT(times, ElementsAre(4000, 4100));
}

TEST_F(LinkFlapTest, JitterMovesEachCutAndAddsUpToNothing) {
  Flap({.period = kPeriod, .down = kDown, .jitter = absl::Milliseconds(500)});
  timers.RunFor(absl::Seconds(200));
  ASSERT_GE(times.size(), 198u);
  bool early = false, late = false;
  for (size_t i = 0; i < 198; i += 2) {
    const auto nominal = static_cast<int64_t>(i / 2 + 1) * 2000;
    EXPECT_NEAR(times[i], nominal, 500);
    EXPECT_EQ(times[i + 1] - times[i], 100);
    early |= times[i] < nominal - 100;
    late |= times[i] > nominal + 100;
  }
  EXPECT_TRUE(early && late);
}

TEST_F(LinkFlapTest, TheSeedDecidesTheJitter) {
  const FlapPlan plan{
      .period = kPeriod, .down = kDown, .jitter = absl::Milliseconds(500)};
  std::vector<std::vector<int64_t>> runs;
  for (const uint64_t seed : {1, 1, 2}) {
    Flap(plan, seed);
    const absl::Time start = timers.Now();
    times.clear();
    timers.RunFor(absl::Seconds(20));
    for (int64_t& time : times) {
      time -= absl::ToInt64Milliseconds(start - absl::UnixEpoch());
    }
    runs.push_back(times);
    flap.reset();
  }
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_NE(runs[0], runs[2]);
}

}  // namespace
}  // namespace ibemu::fabric
