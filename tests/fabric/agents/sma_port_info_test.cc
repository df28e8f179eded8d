#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mad/wire/port_info.h"
#include "tests/fabric/agents/sma_fixture.h"

namespace ibemu::fabric {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using wire::Lid, mad::MadStatus, mad::PortInfo, mad::PortPhysicalState,
    mad::PortState;

class SmaPortInfoTest : public SmaFixture {
 protected:
  // What a subnet manager writes: the port's PortInfo without commands.
  PortInfo Current(topology::NodeId node, int port) {
    PortInfo info = PortOf(node, port).info;
    info.port_state = PortState::kNoChange;
    info.port_physical_state = PortPhysicalState::kNoChange;
    return info;
  }
  MadStatus SetOn(topology::NodeId node, int port, const PortInfo& info) {
    return Set(node, port, info, static_cast<uint32_t>(port));
  }
  MadStatus SetState(topology::NodeId node, int port, PortState state,
                     PortPhysicalState physical = {}) {
    PortInfo info = Current(node, port);
    info.port_state = state;
    info.port_physical_state = physical;
    return SetOn(node, port, info);
  }
  PortState StateOf(topology::NodeId node, int port) {
    return PortOf(node, port).info.port_state;
  }
  PortPhysicalState PhysicalOf(topology::NodeId node, int port) {
    return PortOf(node, port).info.port_physical_state;
  }
  PortInfo WithLid(Lid lid, uint8_t lmc = 0) {
    PortInfo info = Current(kHost, 1);
    info.lid = lid;
    info.lmc = lmc;
    info.master_sm_lid = Lid{1};
    return info;
  }
};

TEST_F(SmaPortInfoTest, GivesAnyPortOfTheNode) {
  EXPECT_EQ(Get<PortInfo>(kSwitch, 1, 4).port_state, PortState::kDown);
  EXPECT_EQ(Get<PortInfo>(kSwitch, 1, 2).port_state, PortState::kInit);
  EXPECT_EQ(Get<PortInfo>(kSwitch, 3, 2).local_port_num, 3);
  EXPECT_EQ(Get<PortInfo>(kHost, 2, 0), [&] {
    PortInfo info = PortOf(kHost, 2).info;
    info.local_port_num = 2;
    return info;
  }());
  EXPECT_EQ(
      StatusOf(mad::Method::kGet, kHost, 1, mad::AttributeId::kPortInfo, 3),
      MadStatus::kInvalidField);
}

TEST_F(SmaPortInfoTest, IgnoresTheModifiersFlags) {
  EXPECT_EQ(Get<PortInfo>(kSwitch, 1, 0x8000'0002).port_state,
            PortState::kInit);
}

TEST_F(SmaPortInfoTest, SetsWhatAnEndPortHas) {
  PortInfo wanted = WithLid(Lid{8}, 2);
  wanted.gid_prefix = 0xfec0'0000'0000'0001;
  wanted.master_sm_sl = 3;
  wanted.subnet_timeout = 12;
  wanted.m_key = 5;
  wanted.m_key_protect_bits = 1;
  wanted.m_key_lease_period = 60;
  wanted.capability_mask = 0;  // read-only
  wanted.guid_cap = 99;        // read-only
  ASSERT_EQ(SetOn(kHost, 1, wanted), MadStatus::kOk);

  const PortInfo& info = PortOf(kHost, 1).info;
  EXPECT_EQ(info.lid, Lid{8});
  EXPECT_EQ(info.lmc, 2);
  EXPECT_EQ(info.master_sm_lid, Lid{1});
  EXPECT_EQ(info.master_sm_sl, 3);
  EXPECT_EQ(info.gid_prefix, wanted.gid_prefix);
  EXPECT_EQ(info.subnet_timeout, 12);
  EXPECT_EQ(info.m_key, 5u);
  EXPECT_EQ(info.m_key_lease_period, 60);
  EXPECT_NE(info.capability_mask, 0u);
  EXPECT_EQ(info.guid_cap, kGuidTableEntries);
  EXPECT_EQ(Answer<PortInfo>().lid, Lid{8});
  EXPECT_EQ(Answer<PortInfo>().m_key, 5u);
  EXPECT_THAT(events_.changes, Contains(subnet_.port_id(kHost, 1)));
}

TEST_F(SmaPortInfoTest, TellsNobodyWhenNothingChanges) {
  events_.changes.clear();
  EXPECT_EQ(SetOn(kHost, 1, Current(kHost, 1)), MadStatus::kOk);
  EXPECT_THAT(events_.changes, IsEmpty());
}

TEST_F(SmaPortInfoTest, RefusesAnImpossibleLid) {
  EXPECT_EQ(SetOn(kHost, 1, WithLid(Lid{0xc000})), MadStatus::kInvalidField);
  EXPECT_EQ(SetOn(kHost, 1, WithLid(Lid{5}, 1)), MadStatus::kInvalidField);
  EXPECT_EQ(SetOn(kHost, 1, WithLid(Lid{0xbfff}, 1)), MadStatus::kInvalidField);
  ASSERT_EQ(SetOn(kHost, 1, WithLid(Lid{4}, 2)), MadStatus::kOk);
  EXPECT_EQ(SetOn(kHost, 1, WithLid(Lid{0})), MadStatus::kInvalidField);
  PortInfo no_manager = WithLid(Lid{4}, 2);
  no_manager.master_sm_lid = Lid::kPermissive;
  EXPECT_EQ(SetOn(kHost, 1, no_manager), MadStatus::kInvalidField);
  EXPECT_EQ(Answer<PortInfo>().lid, Lid{4});
}

TEST_F(SmaPortInfoTest, AnErrorLeavesEverythingAsItWas) {
  PortInfo wanted = WithLid(Lid{4});
  wanted.neighbor_mtu = 6;
  EXPECT_EQ(SetOn(kHost, 1, wanted), MadStatus::kInvalidField);
  EXPECT_EQ(PortOf(kHost, 1).info.lid, Lid::kUnassigned);
}

TEST_F(SmaPortInfoTest, ViolationCountersOnlyGoBackToZero) {
  PortOf(kHost, 1).info.q_key_violations = 7;
  PortInfo wanted = Current(kHost, 1);
  wanted.q_key_violations = 3;
  EXPECT_EQ(SetOn(kHost, 1, wanted), MadStatus::kOk);
  EXPECT_EQ(PortOf(kHost, 1).info.q_key_violations, 7);
  wanted.q_key_violations = 0;
  EXPECT_EQ(SetOn(kHost, 1, wanted), MadStatus::kOk);
  EXPECT_EQ(PortOf(kHost, 1).info.q_key_violations, 0);
}

TEST_F(SmaPortInfoTest, ClientReregisterIsAnEventNotAState) {
  PortInfo wanted = Current(kHost, 1);
  wanted.client_reregister = true;
  events_.changes.clear();
  EXPECT_EQ(SetOn(kHost, 1, wanted), MadStatus::kOk);
  EXPECT_TRUE(Answer<PortInfo>().client_reregister);
  EXPECT_FALSE(Get<PortInfo>(kHost, 1).client_reregister);
  EXPECT_THAT(events_.changes, Contains(subnet_.port_id(kHost, 1)));
  EXPECT_THAT(events_.reregisters,
              ::testing::ElementsAre(subnet_.port_id(kHost, 1)));
}

TEST_F(SmaPortInfoTest, AnExternalPortOfASwitchHasNoEndPortComponents) {
  PortInfo wanted = Current(kSwitch, 1);
  wanted.lid = Lid{9};
  wanted.m_key = 9;
  wanted.hoq_life = 16;
  wanted.vl_stall_count = 7;
  wanted.partition_enforcement_inbound = true;
  ASSERT_EQ(SetOn(kSwitch, 1, wanted), MadStatus::kOk);
  const PortInfo& info = PortOf(kSwitch, 1).info;
  EXPECT_EQ(info.lid, Lid::kUnassigned);
  EXPECT_EQ(info.m_key, 0u);
  EXPECT_EQ(info.gid_prefix, 0u);
  EXPECT_EQ(info.hoq_life, 16);
  EXPECT_EQ(info.vl_stall_count, 7);
  EXPECT_TRUE(info.partition_enforcement_inbound);
}

TEST_F(SmaPortInfoTest, OnlySwitchesEnforcePartitions) {
  PortInfo wanted = Current(kHost, 1);
  wanted.partition_enforcement_inbound = true;
  EXPECT_EQ(SetOn(kHost, 1, wanted), MadStatus::kOk);
  EXPECT_FALSE(PortOf(kHost, 1).info.partition_enforcement_inbound);
}

TEST_F(SmaPortInfoTest, ChecksMtuAndLanes) {
  PortInfo wanted = Current(kHost, 1);
  wanted.neighbor_mtu = 4;
  wanted.operational_vls = 3;
  EXPECT_EQ(SetOn(kHost, 1, wanted), MadStatus::kOk);
  EXPECT_EQ(PortOf(kHost, 1).info.neighbor_mtu, 4);
  EXPECT_EQ(PortOf(kHost, 1).info.operational_vls, 3);

  wanted.operational_vls = 0;  // no change
  EXPECT_EQ(SetOn(kHost, 1, wanted), MadStatus::kOk);
  EXPECT_EQ(PortOf(kHost, 1).info.operational_vls, 3);

  wanted.operational_vls = 5;
  EXPECT_EQ(SetOn(kHost, 1, wanted), MadStatus::kInvalidField);
  wanted.operational_vls = 0;
  wanted.neighbor_mtu = 0;
  EXPECT_EQ(SetOn(kHost, 1, wanted), MadStatus::kInvalidField);
}

TEST_F(SmaPortInfoTest, EnablesWhatIsSupported) {
  PortInfo wanted = Current(kHost, 1);
  wanted.link_width_enabled = mad::link_width::k1x;
  wanted.link_speed_enabled = mad::link_speed::kSdr;
  wanted.link_speed_ext_enabled = mad::link_speed_ext::kDisabled;
  ASSERT_EQ(SetOn(kHost, 1, wanted), MadStatus::kOk);
  PortInfo& info = PortOf(kHost, 1).info;
  EXPECT_EQ(info.link_width_enabled, mad::link_width::k1x);
  EXPECT_EQ(info.link_speed_enabled, mad::link_speed::kSdr);
  EXPECT_EQ(info.link_speed_ext_enabled, mad::link_speed_ext::kDisabled);

  wanted = Current(kHost, 1);
  wanted.link_width_enabled = 0;
  wanted.link_speed_enabled = 0;
  wanted.link_speed_ext_enabled = 0;
  ASSERT_EQ(SetOn(kHost, 1, wanted), MadStatus::kOk);
  EXPECT_EQ(info.link_width_enabled, mad::link_width::k1x);

  wanted.link_width_enabled = mad::link_width::kAllSupported;
  wanted.link_speed_enabled = mad::link_speed::kAllSupported;
  wanted.link_speed_ext_enabled = mad::link_speed_ext::kAllSupported;
  ASSERT_EQ(SetOn(kHost, 1, wanted), MadStatus::kOk);
  EXPECT_EQ(info.link_width_enabled, info.link_width_supported);
  EXPECT_EQ(info.link_speed_enabled, info.link_speed_supported);
  EXPECT_EQ(info.link_speed_ext_enabled, info.link_speed_ext_supported);

  wanted.link_width_enabled = mad::link_width::k12x;
  EXPECT_EQ(SetOn(kHost, 1, wanted), MadStatus::kInvalidField);
}

TEST_F(SmaPortInfoTest, ANewWidthTakesEffectWhenTheLinkTrainsAgain) {
  PortInfo wanted = Current(kSwitch, 1);
  wanted.link_width_enabled = mad::link_width::k1x;
  ASSERT_EQ(SetOn(kSwitch, 1, wanted), MadStatus::kOk);
  EXPECT_EQ(PortOf(kSwitch, 1).info.link_width_active, mad::link_width::k4x);

  ASSERT_EQ(SetState(kSwitch, 1, PortState::kDown), MadStatus::kOk);
  EXPECT_EQ(StateOf(kSwitch, 1), PortState::kInit);
  EXPECT_EQ(PortOf(kSwitch, 1).info.link_width_active, mad::link_width::k1x);
  EXPECT_EQ(PortOf(kHost, 1).info.link_width_active, mad::link_width::k1x);
}

TEST_F(SmaPortInfoTest, GoesFromInitByArmedToActive) {
  EXPECT_EQ(SetState(kHost, 1, PortState::kActive), MadStatus::kInvalidField);
  EXPECT_EQ(SetState(kHost, 1, PortState::kInit), MadStatus::kInvalidField);
  EXPECT_EQ(SetState(kHost, 1, PortState::kArmed), MadStatus::kOk);
  EXPECT_EQ(Answer<PortInfo>().port_state, PortState::kArmed);
  EXPECT_EQ(SetState(kHost, 1, PortState::kArmed), MadStatus::kOk);
  EXPECT_EQ(SetState(kHost, 1, PortState::kActive), MadStatus::kOk);
  EXPECT_EQ(StateOf(kHost, 1), PortState::kActive);
  EXPECT_EQ(SetState(kHost, 1, PortState::kArmed), MadStatus::kInvalidField);
  EXPECT_EQ(StateOf(kHost, 1), PortState::kActive);
  EXPECT_EQ(SetState(kSwitch, 4, PortState::kArmed), MadStatus::kInvalidField);
}

TEST_F(SmaPortInfoTest, DownBringsBothEndsBackToInit) {
  PortOf(kHost, 1).info.port_state = PortState::kActive;
  PortOf(kSwitch, 1).info.port_state = PortState::kActive;
  EXPECT_EQ(SetState(kSwitch, 1, PortState::kDown), MadStatus::kOk);
  EXPECT_EQ(StateOf(kHost, 1), PortState::kInit);
  EXPECT_EQ(StateOf(kSwitch, 1), PortState::kInit);
  EXPECT_TRUE(NodeOf(kSwitch).sw->info.port_state_change);
}

TEST_F(SmaPortInfoTest, ADisabledPortLeavesItsPeerPolling) {
  EXPECT_EQ(
      SetState(kSwitch, 1, PortState::kDown, PortPhysicalState::kDisabled),
      MadStatus::kOk);
  EXPECT_EQ(PhysicalOf(kSwitch, 1), PortPhysicalState::kDisabled);
  EXPECT_EQ(StateOf(kSwitch, 1), PortState::kDown);
  EXPECT_EQ(PhysicalOf(kHost, 1), PortPhysicalState::kPolling);
  EXPECT_EQ(StateOf(kHost, 1), PortState::kDown);

  EXPECT_EQ(SetState(kSwitch, 1, PortState::kDown, PortPhysicalState::kPolling),
            MadStatus::kOk);
  EXPECT_EQ(StateOf(kSwitch, 1), PortState::kInit);
  EXPECT_EQ(StateOf(kHost, 1), PortState::kInit);
}

TEST_F(SmaPortInfoTest, RefusesPhysicalCommandsThatMakeNoSense) {
  EXPECT_EQ(
      SetState(kHost, 1, PortState::kNoChange, PortPhysicalState::kLinkUp),
      MadStatus::kInvalidField);
  EXPECT_EQ(SetState(kHost, 1, PortState::kArmed, PortPhysicalState::kPolling),
            MadStatus::kInvalidField);
  EXPECT_EQ(StateOf(kHost, 1), PortState::kInit);
}

TEST_F(SmaPortInfoTest, PortZeroOfASwitchIsAnEndPortThatIsAlwaysActive) {
  PortInfo wanted = Current(kSwitch, 0);
  wanted.lid = Lid{3};
  wanted.lmc = 4;
  wanted.master_sm_lid = Lid{1};
  wanted.port_state = PortState::kArmed;
  EXPECT_EQ(SetOn(kSwitch, 0, wanted), MadStatus::kOk);
  EXPECT_EQ(PortOf(kSwitch, 0).info.lid, Lid{3});
  EXPECT_EQ(PortOf(kSwitch, 0).info.lmc, 0);
  EXPECT_EQ(StateOf(kSwitch, 0), PortState::kActive);
}

TEST_F(SmaPortInfoTest, AnEnhancedPortZeroHasLogicalStates) {
  NodeOf(kSwitch).sw->info.enhanced_port_0 = true;
  PortOf(kSwitch, 0).info.port_state = PortState::kInit;
  EXPECT_EQ(SetState(kSwitch, 0, PortState::kArmed), MadStatus::kOk);
  EXPECT_EQ(SetState(kSwitch, 0, PortState::kActive), MadStatus::kOk);
  EXPECT_EQ(SetState(kSwitch, 0, PortState::kDown), MadStatus::kInvalidField);
  EXPECT_EQ(StateOf(kSwitch, 0), PortState::kActive);
}

}  // namespace
}  // namespace ibemu::fabric
