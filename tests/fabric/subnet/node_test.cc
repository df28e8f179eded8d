#include "fabric/subnet/node.h"

#include <gtest/gtest.h>

namespace ibemu::fabric {
namespace {

TEST(NodePortTest, HasTheDefaultPKeyAndNoTableAtFirst) {
  NodePort port;
  EXPECT_EQ(port.PKeyAt(0), kDefaultPKey);
  EXPECT_EQ(port.PKeyAt(1), 0);
  port.SetPKey(0, kDefaultPKey);
  port.SetPKey(5, 0);
  EXPECT_EQ(port.tables, nullptr) << "nothing differs from the default";
  port.SetPKey(5, 0x8005);
  EXPECT_EQ(port.PKeyAt(0), kDefaultPKey);
  EXPECT_EQ(port.PKeyAt(5), 0x8005);
  EXPECT_EQ(port.PKeyAt(kPKeyTableEntries), 0);
}

TEST(NodePortTest, MatchesPKeysOfAPartitionUnlessBothAreLimited) {
  NodePort port;
  EXPECT_EQ(port.FindPKey(0xffff), 0);
  EXPECT_EQ(port.FindPKey(0x7fff), 0);
  EXPECT_EQ(port.FindPKey(0x8001), -1);
  port.SetPKey(0, 0x7fff);
  port.SetPKey(3, 0x8001);
  EXPECT_EQ(port.FindPKey(0xffff), 0);
  EXPECT_EQ(port.FindPKey(0x7fff), -1);
  EXPECT_EQ(port.FindPKey(0x0001), 3);
}

// A table's free entries are 0, which is no partition (IBA vol 1 §10.9.1.1).
TEST(NodePortTest, NeverMatchesTheInvalidPKeys) {
  NodePort port;
  port.SetPKey(1, 0x8001);
  EXPECT_EQ(port.FindPKey(0x0000), -1);
  EXPECT_EQ(port.FindPKey(0x8000), -1);
}

TEST(NodePortTest, HasItsOwnGuidFirst) {
  NodePort port;
  port.guid = wire::Guid{0x42};
  EXPECT_EQ(port.GuidAt(0), 0x42u);
  EXPECT_EQ(port.GuidAt(1), 0u);
  port.SetGuid(0, 7);
  EXPECT_EQ(port.GuidAt(0), 0x42u) << "entry 0 is read only";
  port.SetGuid(2, 9);
  EXPECT_EQ(port.GuidAt(2), 9u);
  EXPECT_EQ(port.GuidAt(kGuidTableEntries), 0u);
}

TEST(NodePortTest, SpreadsServiceLevelsOverItsLanesUntilATableSaysMore) {
  NodePort port;
  port.info.operational_vls = 1;
  EXPECT_EQ(port.VlOf(7, 0), 0);
  port.info.operational_vls = 4;  // eight lanes
  EXPECT_EQ(port.VlOf(7, 0), 7);
  EXPECT_EQ(port.VlOf(9, 0), 1);
  port.info.operational_vls = 5;  // fifteen
  EXPECT_EQ(port.VlOf(15, 0), 0);
  port.Tables().sl_to_vl.resize(3);
  port.Tables().sl_to_vl[2][9] = 4;
  EXPECT_EQ(port.VlOf(9, 2), 4);
}

TEST(NodePortTest, OwnsTheLidsOfItsLmc) {
  NodePort port;
  EXPECT_FALSE(port.Owns(wire::Lid{0})) << "no LID yet";
  port.info.lid = wire::Lid{8};
  port.info.lmc = 2;
  EXPECT_FALSE(port.Owns(wire::Lid{7}));
  EXPECT_TRUE(port.Owns(wire::Lid{8}));
  EXPECT_TRUE(port.Owns(wire::Lid{11}));
  EXPECT_FALSE(port.Owns(wire::Lid{12}));
  EXPECT_FALSE(port.Owns(wire::Lid::kPermissive));
}

}  // namespace
}  // namespace ibemu::fabric
