#include "fabric/soft_hca/transport/call_guard.h"

#include <gtest/gtest.h>

#include <optional>

namespace ibemu::fabric {
namespace {

TEST(CallGuardTest, LetsACallThroughWithItsArguments) {
  CallGuard guard;
  int sum = 0;
  auto add = guard.Wrap([&sum](int value) { sum += value; });

  add(3);
  add(4);

  EXPECT_EQ(sum, 7);
}

TEST(CallGuardTest, StopsWhatItWrappedBeforeItWasInvalidated) {
  CallGuard guard;
  int old_calls = 0, new_calls = 0;
  auto before = guard.Wrap([&old_calls] { ++old_calls; });
  guard.Invalidate();
  auto after = guard.Wrap([&new_calls] { ++new_calls; });

  before();
  after();

  EXPECT_EQ(old_calls, 0);
  EXPECT_EQ(new_calls, 1);
}

TEST(CallGuardTest, StopsCallsThatOutliveIt) {
  std::optional<CallGuard> guard(std::in_place);
  int calls = 0;
  auto late = guard->Wrap([&calls] { ++calls; });
  const CallGuard::Mark mark = guard->Now();
  EXPECT_TRUE(mark.valid());

  guard.reset();
  late();

  EXPECT_EQ(calls, 0);
  EXPECT_FALSE(mark.valid());
}

}  // namespace
}  // namespace ibemu::fabric
