#include "fabric/subnet/multicast_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ibemu::fabric {
namespace {

using ::testing::Each;
using wire::Lid;

TEST(MulticastTableTest, HoldsMasksOf16PortsAndBlocksOf32Lids) {
  MulticastTable table;
  MulticastTable::Block masks{};
  masks[2] = 0x8001;
  table.SetBlock(1, 2, masks);
  const Lid lid{0xc000 + 32 + 2};
  EXPECT_TRUE(table.Contains(lid, 32));
  EXPECT_TRUE(table.Contains(lid, 47));
  EXPECT_FALSE(table.Contains(lid, 33));
  EXPECT_FALSE(table.Contains(lid, 31));
  EXPECT_FALSE(table.Contains(Lid{0xc002}, 32));
  EXPECT_EQ(table.block(1, 2), masks);
  EXPECT_THAT(table.block(1, 1), Each(0));
}

TEST(MulticastTableTest, AddsAndRemovesOnePort) {
  MulticastTable table;
  table.Set(Lid{0xfffe}, 255, true);
  table.Set(Lid{0xfffe}, 254, true);
  table.Set(Lid{0xfffe}, 255, false);
  EXPECT_TRUE(table.Contains(Lid{0xfffe}, 254));
  EXPECT_FALSE(table.Contains(Lid{0xfffe}, 255));
}

}  // namespace
}  // namespace ibemu::fabric
