#include "loop/busy_wait_policy.h"

#include "gtest/gtest.h"

namespace ibemu {
namespace {

const absl::Duration kSoon = BusyWaitPolicy::kSpan / 2;
const absl::Duration kLate = BusyWaitPolicy::kSpan * 2;

TEST(BusyWaitPolicyTest, NothingIsKnownAtFirst) {
  EXPECT_FALSE(BusyWaitPolicy().Pays());
}

TEST(BusyWaitPolicyTest, ARequestThatFollowsItsPredecessorMakesItPay) {
  BusyWaitPolicy policy;
  policy.OnRequest(kLate);
  EXPECT_FALSE(policy.Pays());
  policy.OnRequest(kSoon);
  EXPECT_TRUE(policy.Pays());
}

TEST(BusyWaitPolicyTest, WaitsInVainEndIt) {
  BusyWaitPolicy policy;
  for (int i = 0; i < 1000; ++i) policy.OnRequest(kSoon);
  int waits = 0;
  for (; policy.Pays(); ++waits) policy.OnVain();
  EXPECT_LT(waits, 10);
}

// A busy wait that finds nothing costs more than a wake-up.
TEST(BusyWaitPolicyTest, AsManyHitsAsMissesDoNotPay) {
  BusyWaitPolicy policy;
  for (int i = 0; i < 20; ++i) {
    policy.OnRequest(kSoon);
    policy.OnVain();
  }
  EXPECT_FALSE(policy.Pays());
}

TEST(BusyWaitPolicyTest, NoPastIsHeldAgainstAClientForLong) {
  BusyWaitPolicy policy;
  for (int i = 0; i < 1000; ++i) policy.OnVain();
  int requests = 0;
  for (; !policy.Pays(); ++requests) policy.OnRequest(kSoon);
  EXPECT_LT(requests, 20);
}

}  // namespace
}  // namespace ibemu
