#include "lint/unacknowledged_events.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace ibemu::lint {
namespace {

class UnacknowledgedEventsTest : public ::testing::Test {
 protected:
  std::array<char, UnacknowledgedEvents::kMax + 1> queues_{};
  UnacknowledgedEvents events_;
};

TEST_F(UnacknowledgedEventsTest, CountsThoseOfEachQueue) {
  events_.OnEvent(&queues_[0]);
  events_.OnEvent(&queues_[1]);
  events_.OnEvent(&queues_[1]);
  EXPECT_EQ(events_.Of(&queues_[0]), 1u);
  EXPECT_EQ(events_.Of(&queues_[1]), 2u);
  events_.OnAcknowledged(&queues_[1], 1);
  EXPECT_EQ(events_.Of(&queues_[1]), 1u);
  events_.OnAcknowledged(&queues_[1], 7);
  EXPECT_EQ(events_.Of(&queues_[1]), 0u);
  EXPECT_EQ(events_.Of(&queues_[0]), 1u);
}

TEST_F(UnacknowledgedEventsTest, WhatIsAcknowledgedMakesRoomForAnother) {
  for (size_t i = 0; i < UnacknowledgedEvents::kMax; ++i) {
    events_.OnEvent(&queues_[i]);
  }
  char& last = queues_[UnacknowledgedEvents::kMax];
  events_.OnEvent(&last);
  EXPECT_EQ(events_.Of(&last), 0u) << "nothing is known of it";
  events_.OnAcknowledged(&last, 1);
  events_.OnAcknowledged(&queues_[3], 1);
  events_.OnEvent(&last);
  EXPECT_EQ(events_.Of(&last), 1u);
}

TEST_F(UnacknowledgedEventsTest, AChildBeginsWithNone) {
  events_.OnEvent(&queues_[0]);
  events_.ForgetAll();
  EXPECT_EQ(events_.Of(&queues_[0]), 0u);
}

}  // namespace
}  // namespace ibemu::lint
