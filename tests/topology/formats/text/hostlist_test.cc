#include "topology/formats/text/hostlist.h"

#include "gtest/gtest.h"

namespace ibemu::topology {
namespace {

TEST(HostlistTest, NumbersBecomeRanges) {
  EXPECT_EQ(FormatHostlist({"node1", "node2", "node3"}), "node[1-3]");
  EXPECT_EQ(FormatHostlist({"n9", "n10", "n12", "n7"}), "n[7,9-10,12]");
  EXPECT_EQ(FormatHostlist({"n1"}), "n1");
  EXPECT_EQ(FormatHostlist({"n1", "n1"}), "n1");
  EXPECT_EQ(FormatHostlist({}), "");
}

TEST(HostlistTest, ZerosInFrontAreKept) {
  EXPECT_EQ(FormatHostlist({"n08", "n09", "n10"}), "n[08-10]");
  EXPECT_EQ(FormatHostlist({"n1", "n01", "n001"}), "n1,n01,n001");
  EXPECT_EQ(FormatHostlist({"n0", "n1"}), "n[0-1]");
}

TEST(HostlistTest, EachPrefixIsByItself) {
  EXPECT_EQ(FormatHostlist({"b1", "login", "a2", "a1", "a-3"}),
            "a[1-2],a-3,b1,login");
  EXPECT_EQ(FormatHostlist({"1", "2"}), "[1-2]");
  EXPECT_EQ(FormatHostlist({"node1", "node"}), "node,node1");
}

TEST(HostlistTest, MoreDigitsThanANumberHasAreText) {
  EXPECT_EQ(FormatHostlist({"n1234567890123456789012"}),
            "n1234567890123456789012");
}

}  // namespace
}  // namespace ibemu::topology
