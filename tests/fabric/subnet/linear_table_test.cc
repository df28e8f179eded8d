#include "fabric/subnet/linear_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ibemu::fabric {
namespace {

using ::testing::Each;
using wire::Lid;

TEST(LinearTableTest, DropsEverythingUntilItIsSet) {
  const LinearTable table;
  EXPECT_EQ(table.Lookup(Lid{1}), LinearTable::kNoPort);
  EXPECT_EQ(table.Lookup(Lid::kPermissive), LinearTable::kNoPort);
  EXPECT_THAT(table.block(700), Each(LinearTable::kNoPort));
}

TEST(LinearTableTest, HoldsBlocksOf64) {
  LinearTable table;
  LinearTable::Block block;
  for (int i = 0; i < 64; ++i) block[i] = static_cast<uint8_t>(i);
  table.SetBlock(3, block);
  EXPECT_EQ(table.Lookup(Lid{3 * 64}), 0);
  EXPECT_EQ(table.Lookup(Lid{3 * 64 + 63}), 63);
  EXPECT_EQ(table.Lookup(Lid{3 * 64 - 1}), LinearTable::kNoPort);
  EXPECT_EQ(table.Lookup(Lid{4 * 64}), LinearTable::kNoPort);
  EXPECT_EQ(table.block(3), block);
}

TEST(LinearTableTest, SetsOneEntryAndLeavesItsNeighbours) {
  LinearTable table;
  table.Set(Lid{0xbfff}, 17);
  EXPECT_EQ(table.Lookup(Lid{0xbfff}), 17);
  EXPECT_EQ(table.Lookup(Lid{0xbffe}), LinearTable::kNoPort);
}

}  // namespace
}  // namespace ibemu::fabric
