#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mad/wire/forwarding_tables.h"
#include "mad/wire/subnet_tables.h"
#include "tests/fabric/agents/sma_fixture.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, wire::Lid, mad::MadStatus, mad::Method;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;

using SmaTablesTest = SmaFixture;

TEST_F(SmaTablesTest, KeepsGuidsButTheFirst) {
  mad::GuidInfo wanted{.guids = {99, 1, 2, 3, 4, 5, 6, 7}};
  EXPECT_EQ(Set(kHost, 1, wanted), MadStatus::kOk);
  EXPECT_THAT(Answer<mad::GuidInfo>().guids,
              ElementsAre(0x11, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(Set(kHost, 1, wanted, 3), MadStatus::kOk);
  EXPECT_EQ(PortOf(kHost, 1).GuidAt(24), 99u);
  EXPECT_EQ(StatusOf(Method::kGet, kHost, 1, AttributeId::kGuidInfo, 4),
            MadStatus::kInvalidField);
  EXPECT_THAT(events_.changes, Contains(subnet_.port_id(kHost, 1)));
}

TEST_F(SmaTablesTest, StartsWithTheDefaultPartition) {
  EXPECT_EQ(Get<mad::PKeyTable>(kHost, 1).p_keys[0], 0xffff);
  EXPECT_EQ(Get<mad::PKeyTable>(kHost, 1).p_keys[1], 0);
}

TEST_F(SmaTablesTest, SetsPKeysOfThePortThatWasAsked) {
  mad::PKeyTable wanted;
  wanted.p_keys[0] = 0x7fff;
  wanted.p_keys[1] = 0x8001;
  events_.changes.clear();
  EXPECT_EQ(Set(kHost, 2, wanted), MadStatus::kOk);
  EXPECT_EQ(PortOf(kHost, 2).PKeyAt(1), 0x8001);
  EXPECT_EQ(PortOf(kHost, 1).PKeyAt(1), 0);
  EXPECT_THAT(events_.changes, ElementsAre(subnet_.port_id(kHost, 2)));
  EXPECT_EQ(Set(kHost, 2, wanted, 3), MadStatus::kOk);
  EXPECT_EQ(PortOf(kHost, 2).PKeyAt(97), 0x8001);
  EXPECT_EQ(StatusOf(Method::kGet, kHost, 1, AttributeId::kPKeyTable, 4),
            MadStatus::kInvalidField);
}

TEST_F(SmaTablesTest, SetsPKeysOfAnyPortOfASwitch) {
  mad::PKeyTable wanted;
  wanted.p_keys[0] = 0x8002;
  EXPECT_EQ(Set(kSwitch, 1, wanted, 3u << 16), MadStatus::kOk);
  EXPECT_EQ(PortOf(kSwitch, 3).PKeyAt(0), 0x8002);
  EXPECT_EQ(PortOf(kSwitch, 0).PKeyAt(0), 0xffff);
  EXPECT_EQ(
      StatusOf(Method::kGet, kSwitch, 1, AttributeId::kPKeyTable, 5u << 16),
      MadStatus::kInvalidField);
  EXPECT_EQ(
      StatusOf(Method::kGet, kSwitch, 1, AttributeId::kPKeyTable, 3u << 16 | 1),
      MadStatus::kInvalidField);  // it has one block
}

TEST_F(SmaTablesTest, MapsSlsToLanesByPairOfPorts) {
  mad::SlToVlMappingTable wanted;
  wanted.vls.fill(3);
  EXPECT_EQ(Set(kSwitch, 1, wanted, 2u << 8 | 4), MadStatus::kOk);
  EXPECT_THAT(Answer<mad::SlToVlMappingTable>().vls, Each(3));
  EXPECT_EQ(PortOf(kSwitch, 4).VlOf(7, 2), 3);
  EXPECT_EQ(PortOf(kSwitch, 4).VlOf(7, 1), 7);
  EXPECT_EQ(PortOf(kSwitch, 3).VlOf(7, 2), 7);
  for (const uint32_t beyond : {5u, 5u << 8}) {
    EXPECT_EQ(StatusOf(Method::kGet, kSwitch, 1,
                       AttributeId::kSlToVlMappingTable, beyond),
              MadStatus::kInvalidField);
  }
}

TEST_F(SmaTablesTest, MapsSlsOfManyPortsAtOnce) {
  mad::SlToVlMappingTable wanted;
  wanted.vls.fill(2);
  EXPECT_EQ(Set(kSwitch, 1, wanted, 1u << 17 | 4), MadStatus::kOk);
  EXPECT_EQ(PortOf(kSwitch, 4).VlOf(0, 0), 2);
  EXPECT_EQ(PortOf(kSwitch, 4).VlOf(0, 4), 2);
  EXPECT_EQ(PortOf(kSwitch, 3).VlOf(0, 4), 0);

  wanted.vls.fill(1);
  EXPECT_EQ(Set(kSwitch, 1, wanted, 3u << 16), MadStatus::kOk);
  for (int out = 0; out <= 4; ++out) {
    for (int in = 0; in <= 4; ++in) {
      EXPECT_EQ(PortOf(kSwitch, out).VlOf(9, in), 1);
    }
  }
}

TEST_F(SmaTablesTest, MapsSlsOfAHostWhateverTheModifierSays) {
  mad::SlToVlMappingTable wanted;
  wanted.vls.fill(1);
  EXPECT_EQ(Set(kHost, 1, wanted, 0x0505), MadStatus::kOk);
  EXPECT_EQ(PortOf(kHost, 1).VlOf(4, 0), 1);
}

TEST_F(SmaTablesTest, KeepsVlArbitrationUpToItsCapability) {
  mad::VlArbitrationTable wanted;
  wanted.entries.fill({.vl = 2, .weight = 9});
  EXPECT_EQ(Set(kSwitch, 1, wanted, 3u << 16 | 2), MadStatus::kOk);
  const auto high = Get<mad::VlArbitrationTable>(kSwitch, 1, 3u << 16 | 2);
  EXPECT_EQ(high, Answer<mad::VlArbitrationTable>());
  EXPECT_EQ(high.entries[7].weight, 9);
  EXPECT_EQ(high.entries[8].weight, 0);
  EXPECT_EQ(Get<mad::VlArbitrationTable>(kSwitch, 1, 1u << 16 | 2),
            mad::VlArbitrationTable{});
  for (const uint32_t wrong :
       {0u, 2u << 16, 4u << 16, 5u << 16, 1u << 16 | 9}) {
    EXPECT_EQ(StatusOf(Method::kGet, kSwitch, 1,
                       AttributeId::kVlArbitrationTable, wrong),
              MadStatus::kInvalidField);
  }
}

TEST_F(SmaTablesTest, ShowsTheUsualVlArbitrationWhereNobodySetAnother) {
  PortOf(kHost, 1).has_usual_weights = true;
  const auto low = Get<mad::VlArbitrationTable>(kHost, 1, 1u << 16);
  const auto high = Get<mad::VlArbitrationTable>(kHost, 1, 3u << 16);
  for (uint8_t vl = 0; vl < 8; ++vl) {
    EXPECT_EQ(low.entries[vl].vl, vl);
    EXPECT_EQ(low.entries[vl].weight, vl == 0 ? 0 : 4);
    EXPECT_EQ(high.entries[vl].vl, vl);
    EXPECT_EQ(high.entries[vl].weight, vl == 0 ? 4 : 0);
  }
  EXPECT_EQ(low.entries[8], mad::VlArbitrationEntry{});

  PortOf(kHost, 1).info.operational_vls = 2;  // 2 VLs
  EXPECT_EQ(Get<mad::VlArbitrationTable>(kHost, 1, 1u << 16).entries[2],
            mad::VlArbitrationEntry{});
  PortOf(kHost, 1).info.operational_vls = 1;
  EXPECT_EQ(Get<mad::VlArbitrationTable>(kHost, 1, 3u << 16),
            mad::VlArbitrationTable{})
      << "one VL has nothing to share";

  PortOf(kHost, 1).info.operational_vls = 4;
  mad::VlArbitrationTable wanted;
  wanted.entries[0] = {.vl = 1, .weight = 9};
  Set(kHost, 1, wanted, 1u << 16);
  EXPECT_EQ(Get<mad::VlArbitrationTable>(kHost, 1, 1u << 16), wanted);
}

TEST_F(SmaTablesTest, SetsSwitchInfoButNotWhatIsReadOnly) {
  auto wanted = Get<mad::SwitchInfo>(kSwitch, 1);
  const auto before = wanted;
  wanted.linear_fdb_top = 77;
  wanted.linear_fdb_cap = 9;
  wanted.optimized_sl_to_vl_mapping = 0;
  EXPECT_EQ(Set(kSwitch, 1, wanted), MadStatus::kOk);
  EXPECT_EQ(Answer<mad::SwitchInfo>().linear_fdb_top, 77);
  EXPECT_EQ(Answer<mad::SwitchInfo>().linear_fdb_cap, before.linear_fdb_cap);
  EXPECT_EQ(Answer<mad::SwitchInfo>().optimized_sl_to_vl_mapping,
            before.optimized_sl_to_vl_mapping);

  wanted.linear_fdb_top = before.linear_fdb_cap;
  EXPECT_EQ(Set(kSwitch, 1, wanted), MadStatus::kInvalidField);
  EXPECT_EQ(Answer<mad::SwitchInfo>().linear_fdb_top, 77);
  EXPECT_EQ(StatusOf(Method::kGet, kSwitch, 1, AttributeId::kSwitchInfo, 1),
            MadStatus::kInvalidField);
  EXPECT_EQ(StatusOf(Method::kGet, kHost, 1, AttributeId::kSwitchInfo),
            MadStatus::kUnsupportedAttribute);
}

TEST_F(SmaTablesTest, WritingOneClearsPortStateChange) {
  auto& info = NodeOf(kSwitch).sw->info;
  info.port_state_change = true;
  auto wanted = info;
  wanted.port_state_change = false;
  EXPECT_EQ(Set(kSwitch, 1, wanted), MadStatus::kOk);
  EXPECT_TRUE(Answer<mad::SwitchInfo>().port_state_change);
  wanted.port_state_change = true;
  EXPECT_EQ(Set(kSwitch, 1, wanted), MadStatus::kOk);
  EXPECT_FALSE(Answer<mad::SwitchInfo>().port_state_change);
}

TEST_F(SmaTablesTest, KeepsLinearForwardingTables) {
  EXPECT_THAT(Get<mad::LinearForwardingTable>(kSwitch, 1, 767).ports,
              Each(LinearTable::kNoPort));
  mad::LinearForwardingTable wanted;
  wanted.ports.fill(3);
  EXPECT_EQ(Set(kSwitch, 1, wanted, 2), MadStatus::kOk);
  EXPECT_EQ(Answer<mad::LinearForwardingTable>(), wanted);
  EXPECT_EQ(NodeOf(kSwitch).sw->linear.Lookup(Lid{128}), 3);
  EXPECT_EQ(NodeOf(kSwitch).sw->linear.Lookup(Lid{192}), LinearTable::kNoPort);
  EXPECT_EQ(StatusOf(Method::kGet, kSwitch, 1,
                     AttributeId::kLinearForwardingTable, 768),
            MadStatus::kInvalidField);
  EXPECT_EQ(
      StatusOf(Method::kGet, kHost, 1, AttributeId::kLinearForwardingTable),
      MadStatus::kUnsupportedAttribute);
}

TEST_F(SmaTablesTest, KeepsMulticastForwardingTables) {
  mad::MulticastForwardingTable wanted;
  wanted.port_masks[1] = 0b110;
  EXPECT_EQ(Set(kSwitch, 1, wanted, 1), MadStatus::kOk);
  EXPECT_EQ(Answer<mad::MulticastForwardingTable>(), wanted);
  EXPECT_TRUE(NodeOf(kSwitch).sw->multicast.Contains(Lid{0xc021}, 2));
  EXPECT_FALSE(NodeOf(kSwitch).sw->multicast.Contains(Lid{0xc021}, 3));
  for (const uint32_t wrong : {0x80u, 1u << 28, 1u << 9}) {
    EXPECT_EQ(StatusOf(Method::kGet, kSwitch, 1,
                       AttributeId::kMulticastForwardingTable, wrong),
              MadStatus::kInvalidField);
  }
}

}  // namespace
}  // namespace ibemu::fabric
