#include "loop/patience.h"

#include "gtest/gtest.h"

namespace ibemu {
namespace {

const absl::Duration kSoon = Patience::kSpan / 2;
const absl::Duration kLate = Patience::kSpan * 2;

TEST(PatienceTest, NothingIsKnownAtFirst) { EXPECT_FALSE(Patience().Pays()); }

TEST(PatienceTest, ARequestThatFollowsItsPredecessorMakesItPay) {
  Patience patience;
  patience.OnRequest(kLate);
  EXPECT_FALSE(patience.Pays());
  patience.OnRequest(kSoon);
  EXPECT_TRUE(patience.Pays());
}

TEST(PatienceTest, WaitsInVainEndIt) {
  Patience patience;
  for (int i = 0; i < 1000; ++i) patience.OnRequest(kSoon);
  int waits = 0;
  for (; patience.Pays(); ++waits) patience.OnVain();
  EXPECT_LT(waits, 10);
}

// A busy wait that finds nothing costs more than a wake-up.
TEST(PatienceTest, AsManyHitsAsMissesDoNotPay) {
  Patience patience;
  for (int i = 0; i < 20; ++i) {
    patience.OnRequest(kSoon);
    patience.OnVain();
  }
  EXPECT_FALSE(patience.Pays());
}

TEST(PatienceTest, NoPastIsHeldAgainstAClientForLong) {
  Patience patience;
  for (int i = 0; i < 1000; ++i) patience.OnVain();
  int requests = 0;
  for (; !patience.Pays(); ++requests) patience.OnRequest(kSoon);
  EXPECT_LT(requests, 20);
}

}  // namespace
}  // namespace ibemu
