#include "daemon/words/fault_counts.h"

#include <gtest/gtest.h>

#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

const json kNothing = {{"packets", 9},    {"lost", 0},      {"corrupted", 0},
                       {"duplicated", 0}, {"reordered", 0}, {"delayed", 0}};

TEST(FaultCountsTest, PacketsOfBothDirectionsAreSummedUp) {
  json fault = {{"tx", kNothing}, {"rx", kNothing}};
  fault["tx"]["lost"] = 2;
  fault["rx"]["lost"] = 3;
  fault["rx"]["delayed"] = 4;
  EXPECT_EQ(FaultPackets(fault, "lost"), 5u);
  EXPECT_EQ(FaultPackets(fault, "packets"), 18u);
  EXPECT_EQ(FaultActs(fault), 9u);
}

TEST(FaultCountsTest, ActsAreOfWhateverTheFaultIsOf) {
  EXPECT_EQ(FaultActs({{"acts", {{"seen", 7}, {"acted", 2}}}}), 2u);
  EXPECT_EQ(FaultActs({{"cuts", 3}}), 3u);
  EXPECT_EQ(FaultActs({{"tx", kNothing}}), 0u);
}

}  // namespace
}  // namespace ibemu::daemon
