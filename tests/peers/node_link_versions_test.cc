#include "peers/node_link_versions.h"

#include <gtest/gtest.h>

namespace ibemu::peers {
namespace {

TEST(NodeLinkVersionsTest, TwoMachinesSpeakTheNewestThatBothHave) {
  EXPECT_EQ(CommonVersion({6, 6}, {6, 6}), 6U);
  EXPECT_EQ(CommonVersion({5, 7}, {6, 9}), 7U);
  EXPECT_EQ(CommonVersion({6, 9}, {5, 7}), 7U);
  EXPECT_EQ(CommonVersion({5, 7}, {7, 7}), 7U);
}

TEST(NodeLinkVersionsTest, OrTheyHaveNone) {
  EXPECT_EQ(CommonVersion({5, 6}, {7, 8}), std::nullopt);
  EXPECT_EQ(CommonVersion({7, 8}, {5, 6}), std::nullopt);
  EXPECT_EQ(CommonVersion({6, 6}, {8, 3}), std::nullopt) << "what is no range";
  EXPECT_EQ(CommonVersion({6, 6}, {7, 6}), std::nullopt);
}

TEST(NodeLinkVersionsTest, AreToldInWords) {
  EXPECT_EQ((NodeLinkVersions{6, 6}).Text(), "6");
  EXPECT_EQ((NodeLinkVersions{5, 7}).Text(), "5 to 7");
}

}  // namespace
}  // namespace ibemu::peers
