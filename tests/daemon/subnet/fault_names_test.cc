#include "daemon/subnet/fault_names.h"

#include "gtest/gtest.h"

namespace ibemu::daemon {
namespace {

TEST(FaultNamesTest, SaysOfAFaultThatItIsGone) {
  FaultNames names;
  names.Add(7, "lossy");
  EXPECT_EQ(names.Of(7), "lossy");
  EXPECT_EQ(names.Of(8), "");
  names.Remove(7);
  names.Remove(7);
  names.Remove(8);
  EXPECT_EQ(names.Of(7), "lossy, removed since");
  EXPECT_EQ(names.Of(8), "");
}

TEST(FaultNamesTest, ForgetsThoseThatWentFirst) {
  FaultNames names;
  constexpr auto kMax = static_cast<uint32_t>(FaultNames::kMaxRemoved);
  names.Add(0, "stays");
  for (uint32_t number = 1; number <= kMax + 1; ++number) {
    names.Add(number, "goes");
    names.Remove(number);
  }
  EXPECT_EQ(names.Of(0), "stays");
  EXPECT_EQ(names.Of(1), "");
  EXPECT_EQ(names.Of(2), "goes, removed since");
}

}  // namespace
}  // namespace ibemu::daemon
