#include "launch/in_child.h"

#include <gtest/gtest.h>

#include <csignal>

namespace ibemu::launch {
namespace {

TEST(InChildTest, WhatATrialDoesEndsWithItsProcess) {
  int changed = 0;
  EXPECT_TRUE(InChild([&] {
                changed = 1;
                return absl::OkStatus();
              }).ok());
  EXPECT_EQ(changed, 0);
}

TEST(InChildTest, AFailureIsToldInItsOwnWords) {
  const absl::Status status =
      InChild([] { return absl::NotFoundError("it is missing: buy one"); });
  EXPECT_EQ(status, absl::FailedPreconditionError("it is missing: buy one"));
}

TEST(InChildTest, ATrialThatDiesIsAFailure) {
  EXPECT_EQ(InChild([] {
              raise(SIGKILL);
              return absl::OkStatus();
            }),
            absl::InternalError("the trial was killed by a signal"));
}

}  // namespace
}  // namespace ibemu::launch
