#include "fabric/agents/other_agents.h"

#include <cstring>

#include "fabric/agents/pma_counters.h"
#include "mad/wire/class_port_info.h"
#include "mad/wire/congestion.h"
#include "mad/wire/mellanox.h"
#include "tests/fabric/agents/gmp_fixture.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, mad::LocalVerdict, mad::MadStatus,
    mad::MellanoxConfigSpace, mad::MellanoxCounterGroupInfo,
    mad::MellanoxCounterGroups, mad::MellanoxVendorInfo, mad::Method,
    mad::MgmtClass;

topology::Topology MellanoxNodes() {
  topology::Topology topology = AdapterAndSwitch();
  topology.nodes[0].vendor_id = 0x0002c9;
  topology.nodes[0].device_id = 4129;
  topology.nodes[1].vendor_id = 0x0002c9;
  topology.nodes[1].device_id = 47396;  // InfiniScale III
  topology.nodes[1].port_count = 24;
  return topology;
}

class OtherAgentsTest : public GmpTest {
 protected:
  explicit OtherAgentsTest(const topology::Topology& topology = MellanoxNodes())
      : GmpTest(topology), agents_(subnet_, timers_) {}

  template <class T>
  GmpAnswer Ask(PortId to, Method method, const T& attribute,
                uint32_t modifier = 0) {
    mad::MadBytes mad{};
    wire::Encode(Header(MgmtClass::kMellanox, method, T::kId, modifier), mad);
    wire::Encode(attribute, std::span(mad).subspan(mad::kMellanoxDataOffset));
    return Send(agents_, to, mad);
  }
  template <class T>
  T Get(PortId to, uint32_t modifier = 0, const T& attribute = {}) {
    const GmpAnswer answer = Ask(to, Method::kGet, attribute, modifier);
    EXPECT_EQ(answer.verdict, LocalVerdict::kReply);
    EXPECT_EQ(answer.status(), MadStatus::kOk);
    return answer.As<T>(mad::kMellanoxDataOffset);
  }

  OtherAgents agents_;
};

TEST_F(OtherAgentsTest, TellsAboutAMellanoxDevice) {
  timers_.RunFor(absl::Seconds(90));
  const auto all = Get<MellanoxVendorInfo>(adapter());
  EXPECT_EQ(all.info.device_id, 4129);
  EXPECT_EQ(all.info.uptime, 90u);
  EXPECT_EQ(std::string_view(all.info.psid.data(), 16), "IBEMU_0000000001");
  EXPECT_EQ(all.firmware_major, 28u);
  EXPECT_EQ(all.firmware_minor, 39u);
  EXPECT_EQ(all.firmware_sub_minor, 2048u);
  EXPECT_EQ(Get<mad::ClassPortInfo>(adapter()).class_version, 1);
}

TEST_F(OtherAgentsTest, PutsTheVersionOfAnOldDeviceInTheOldPlace) {
  const auto all = Get<MellanoxVendorInfo>(switch0());
  EXPECT_EQ(all.info.firmware_major, 28);
  EXPECT_EQ(all.firmware_major, 0u);
}

TEST_F(OtherAgentsTest, ReadsXmitWaitOfEachPortAsARegister) {
  Switch(4).Events().xmit_wait = 40;
  Switch(21).Events().xmit_wait = 210;
  Switch(1).Events().xmit_wait = 10;
  MellanoxConfigSpace space;
  space.records[0].address = 0x10013c + 0x1000;
  space.records[1].address = 0x10013c + 17 * 0x1000;
  space.records[2].address = 0x10013c + 21 * 0x1000;
  space.records[3].address = 0xf0014;
  const auto read = Get(switch0(), 2u << 22 | 4u << 16, space);
  EXPECT_EQ(read.records[0].data, 40u);
  EXPECT_EQ(read.records[1].data, 210u);
  EXPECT_EQ(read.records[2].data, 10u);
  EXPECT_EQ(read.records[3].data, 0u);
}

TEST_F(OtherAgentsTest, ChoosesCounterGroupsPerPort) {
  const auto info = Get<MellanoxCounterGroupInfo>(switch0(), 12);
  EXPECT_EQ(info.group_count, 2);
  EXPECT_EQ(info.group_masks[0], 0x7u);
  MellanoxCounterGroups groups;
  groups.group_selects = {2, 8};
  EXPECT_EQ(Ask(switch0(), Method::kSet, groups, 12).status(), MadStatus::kOk);
  EXPECT_EQ(Get<MellanoxCounterGroups>(switch0(), 12), groups);
  EXPECT_EQ(Get<MellanoxCounterGroups>(switch0(), 13).group_selects[0], 0u);
  EXPECT_EQ(Ask(switch0(), Method::kGet, groups, 25).status(),
            MadStatus::kInvalidField);
}

TEST_F(OtherAgentsTest, RefusesWhatTheDeviceDoesNotHave) {
  EXPECT_EQ(Ask(adapter(), Method::kGet, MellanoxCounterGroups{}, 1).status(),
            MadStatus::kUnsupportedAttribute);
  EXPECT_EQ(Ask(adapter(), Method::kGet, MellanoxConfigSpace{}).status(),
            MadStatus::kUnsupportedAttribute);
  EXPECT_EQ(Ask(switch0(), Method::kSet, MellanoxConfigSpace{}).status(),
            MadStatus::kUnsupportedAttribute);
}

TEST_F(OtherAgentsTest, AnswersCongestionControl) {
  mad::MadBytes mad{};
  auto header = Header(MgmtClass::kCongestionControl, Method::kGet,
                       AttributeId::kCongestionInfo);
  header.class_version = mad::kCongestionClassVersion;
  wire::Encode(header, mad);
  EXPECT_EQ(Send(agents_, adapter(), mad).status(), MadStatus::kOk);
}

TEST_F(OtherAgentsTest, LeavesOtherClassesToPrograms) {
  for (const MgmtClass mgmt_class :
       {MgmtClass::kBaseboard, MgmtClass::kDevice, MgmtClass::kSnmp,
        MgmtClass::kOpenIbPing}) {
    mad::MadBytes mad{};
    wire::Encode(Header(mgmt_class, Method::kGet, AttributeId::kClassPortInfo),
                 mad);
    EXPECT_EQ(Send(agents_, adapter(), mad).verdict, LocalVerdict::kUnhandled);
  }
}

class OtherVendorTest : public OtherAgentsTest {
 protected:
  OtherVendorTest() : OtherAgentsTest(AdapterAndSwitch()) {}
};

TEST_F(OtherVendorTest, DoesNotPlayMellanox) {
  EXPECT_EQ(Ask(adapter(), Method::kGet, MellanoxVendorInfo{}).verdict,
            LocalVerdict::kUnhandled);
}

}  // namespace
}  // namespace ibemu::fabric
