#include "base/did_you_mean.h"

#include <string>

#include "gtest/gtest.h"

namespace ibemu {
namespace {

std::string Best(std::string_view wrong,
                 std::initializer_list<std::string_view> names) {
  return std::string(DidYouMean(wrong, names).best());
}

TEST(DidYouMeanTest, FindsTheClosestName) {
  EXPECT_EQ(Best("swich", {"stitch", "switch", "router"}), "switch");
  EXPECT_EQ(Best("node-11", {"node-1", "node-12", "core-11"}), "node-1");
  EXPECT_EQ(Best("raidx", {"levels", "radix"}), "radix");
}

TEST(DidYouMeanTest, DoesNotMindLetterCase) {
  EXPECT_EQ(Best("NODE-1", {"node-2", "node-1"}), "node-1");
  EXPECT_EQ(Best("h-0002C903", {"H-0002c903"}), "H-0002c903");
}

TEST(DidYouMeanTest, StaysSilentWhenNothingIsClose) {
  EXPECT_EQ(Best("frobnicate", {"switch", "radix"}), "");
  EXPECT_EQ(Best("x", {"y"}), "");
  EXPECT_EQ(Best("", {"a"}), "");
  EXPECT_EQ(DidYouMean("frobnicate", {"switch"}).Question(), "");
}

TEST(DidYouMeanTest, TakesNamesOfAnyLength) {
  EXPECT_EQ(Best(std::string(200, 'a'), {"a"}), "");
  const std::string longest(80, 'a');
  EXPECT_EQ(Best(longest.substr(1), {longest}), longest);
}

TEST(DidYouMeanTest, AsksAtTheEndOfAMessage) {
  EXPECT_EQ(DidYouMean("sw11", {"sw1", "sw2"}).Question(),
            ": did you mean \"sw1\"?");
}

}  // namespace
}  // namespace ibemu
