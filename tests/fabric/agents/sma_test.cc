#include "fabric/agents/sma.h"

#include <string_view>

#include "gtest/gtest.h"
#include "mad/wire/mellanox.h"
#include "mad/wire/node_info.h"
#include "mad/wire/port_diagnostics.h"
#include "tests/fabric/agents/sma_fixture.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, mad::LocalVerdict, mad::MadStatus, mad::Method;

using SmaTest = SmaFixture;

std::string_view Text(const mad::NodeDescription& description) {
  return description.text.data();
}

TEST_F(SmaTest, TellsWhatItsNodeIs) {
  const auto info = Get<mad::NodeInfo>(kHost, 2);
  EXPECT_EQ(info.node_type, mad::NodeType::kChannelAdapter);
  EXPECT_EQ(info.num_ports, 2);
  EXPECT_EQ(info.node_guid, wire::Guid{0x10});
  EXPECT_EQ(info.port_guid, wire::Guid{0x12});
  EXPECT_EQ(info.local_port_num, 2);
  EXPECT_EQ(info.vendor_id, 0x2c9u);
}

TEST_F(SmaTest, TellsASwitchFromWhichPortTheQuestionCame) {
  const auto info = Get<mad::NodeInfo>(kSwitch, 3);
  EXPECT_EQ(info.node_type, mad::NodeType::kSwitch);
  EXPECT_EQ(info.local_port_num, 3);
  EXPECT_EQ(info.port_guid, wire::Guid{0x30});
}

TEST_F(SmaTest, EchoesTheHeaderAndTurnsADirectedRouteAround) {
  mad::Smp request = Request(Method::kGet, AttributeId::kNodeInfo, 0);
  request.mgmt_class = mad::MgmtClass::kSubnetDirectedRoute;
  request.hop_pointer = 2;
  request.hop_count = 1;
  request.return_path[1] = 3;
  const auto reply = Send(kHost, 1, request);
  ASSERT_TRUE(reply.has_value());
  EXPECT_TRUE(reply->direction);
  EXPECT_EQ(reply->tid, 77u);
  EXPECT_EQ(reply->hop_pointer, 2);
  EXPECT_EQ(reply->return_path, request.return_path);
}

TEST_F(SmaTest, KeepsTheDescriptionThatIsSet) {
  EXPECT_EQ(Text(Get<mad::NodeDescription>(kHost, 1)), "node-1");
  mad::NodeDescription longest;
  longest.text.fill('x');
  EXPECT_EQ(Set(kHost, 1, longest), MadStatus::kOk);
  EXPECT_EQ(NodeOf(kHost).description, std::string(64, 'x'));
  EXPECT_EQ(Get<mad::NodeDescription>(kHost, 1), longest);

  mad::NodeDescription brief;
  brief.text = {'a', 'b', '\0', 'c'};
  EXPECT_EQ(Set(kHost, 1, brief), MadStatus::kOk);
  EXPECT_EQ(NodeOf(kHost).description, "ab");
  EXPECT_EQ(Text(Answer<mad::NodeDescription>()), "ab");
}

TEST_F(SmaTest, AnswersWhatItDoesNotKnowWithAStatus) {
  EXPECT_EQ(StatusOf(Method::kGet, kHost, 1, AttributeId{0xff00}),
            MadStatus::kUnsupportedAttribute);
  EXPECT_EQ(
      StatusOf(Method::kGet, kSwitch, 0, AttributeId::kRandomForwardingTable),
      MadStatus::kUnsupportedAttribute);
  EXPECT_EQ(StatusOf(Method::kGet, kHost, 1, AttributeId::kCableInfo),
            MadStatus::kUnsupportedAttribute);
  EXPECT_EQ(StatusOf(Method::kSet, kHost, 1, AttributeId::kNodeInfo),
            MadStatus::kUnsupportedAttribute);
  EXPECT_EQ(StatusOf(Method::kGetTable, kHost, 1, AttributeId::kNodeInfo),
            MadStatus::kUnsupportedMethod);

  mad::Smp future = Request(Method::kGet, AttributeId::kNodeInfo, 0);
  future.class_version = 2;
  EXPECT_EQ(Send(kHost, 1, future)->status, MadStatus::kUnsupportedVersion);
}

TEST_F(SmaTest, LeavesToManagersWhatIsTheirs) {
  for (const Method method : {Method::kGet, Method::kSet}) {
    Send(kHost, 1, Request(method, AttributeId::kSmInfo, 0));
    EXPECT_EQ(verdict_, LocalVerdict::kUnhandled);
  }
  for (const Method method :
       {Method::kGetResp, Method::kTrap, Method::kReport}) {
    Send(kHost, 1, Request(method, AttributeId::kNotice, 0));
    EXPECT_EQ(verdict_, LocalVerdict::kUnhandled);
  }
}

TEST_F(SmaTest, SwitchesTheBeaconOfOnePort) {
  EXPECT_EQ(Set(kSwitch, 1, mad::LedInfo{.led_mask = true}, 3), MadStatus::kOk);
  EXPECT_TRUE(Get<mad::LedInfo>(kSwitch, 1, 3).led_mask);
  EXPECT_FALSE(Get<mad::LedInfo>(kSwitch, 1, 2).led_mask);
  EXPECT_EQ(StatusOf(Method::kGet, kSwitch, 1, AttributeId::kLedInfo, 5),
            MadStatus::kInvalidField);
}

TEST_F(SmaTest, HasNothingInVendorDiagnostics) {
  EXPECT_EQ(Get<mad::VendorDiag>(kHost, 1), mad::VendorDiag{});
  EXPECT_EQ(StatusOf(Method::kGet, kHost, 1, AttributeId::kVendorDiag, 1),
            MadStatus::kInvalidField);
}

TEST_F(SmaTest, ListsWidthsForEachSpeed) {
  const auto table = Get<mad::LinkSpeedWidthPairsTable>(kSwitch, 1);
  EXPECT_EQ(table.num_tables, 1);
  EXPECT_EQ(table.port_mask[31], std::byte{0b11111});
  EXPECT_EQ(table.speed_10, mad::link_width::k1x | mad::link_width::k4x);
}

TEST_F(SmaTest, AnswersMellanoxAttributesOnMellanoxDevicesOnly) {
  const auto info = Get<mad::MellanoxExtendedPortInfo>(kHost, 1, 1);
  EXPECT_EQ(info.link_speed_supported, 0);
  EXPECT_EQ(Set(kHost, 1, mad::MellanoxExtendedPortInfo{}), MadStatus::kOk);
  EXPECT_EQ(Set(kHost, 1,
                mad::MellanoxExtendedPortInfo{
                    .state_change_enable = 1,
                    .link_speed_enabled = mad::kMellanoxFdr10}),
            MadStatus::kInvalidField);
  EXPECT_EQ(Get<mad::MellanoxGeneralInfo>(kHost, 1).device_id, 0x1011);
  EXPECT_EQ(StatusOf(Method::kGet, kOtherHost, 1,
                     AttributeId::kMellanoxExtendedPortInfo),
            MadStatus::kUnsupportedAttribute);
}

class MKeyTest : public SmaFixture {
 protected:
  MKeyTest() {
    for (const int port : {1, 2}) {
      mad::PortInfo& info = PortOf(kHost, port).info;
      info.m_key = 0x1234;
      info.m_key_lease_period = 10;
    }
  }
  void Protect(uint8_t bits) { info().m_key_protect_bits = bits; }
  mad::PortInfo& info() { return PortOf(kHost, 1).info; }
  LocalVerdict TryGet() {
    Send(kHost, 1, Request(Method::kGet, AttributeId::kNodeInfo, 0));
    return verdict_;
  }
  LocalVerdict TrySet() {
    Send(kHost, 1, Request(Method::kSet, AttributeId::kLedInfo, 0));
    return verdict_;
  }
};

TEST_F(MKeyTest, ARightKeyOpensEverything) {
  Protect(3);
  m_key_ = 0x1234;
  EXPECT_EQ(TryGet(), LocalVerdict::kReply);
  EXPECT_EQ(TrySet(), LocalVerdict::kReply);
  EXPECT_EQ(Get<mad::PortInfo>(kHost, 1).m_key, 0x1234u);
  EXPECT_EQ(info().m_key_violations, 0);
}

TEST_F(MKeyTest, LevelZeroLetsOthersReadAndEvenSeeTheKey) {
  Protect(0);
  EXPECT_EQ(Get<mad::PortInfo>(kHost, 1).m_key, 0x1234u);
  EXPECT_EQ(TrySet(), LocalVerdict::kConsumed);
  EXPECT_EQ(info().m_key_violations, 1);
}

TEST_F(MKeyTest, LevelOneHidesTheKey) {
  Protect(1);
  EXPECT_EQ(Get<mad::PortInfo>(kHost, 1).m_key, 0u);
  EXPECT_EQ(TrySet(), LocalVerdict::kConsumed);
}

TEST_F(MKeyTest, LevelTwoSilencesReadersAndCountsThem) {
  Protect(2);
  EXPECT_EQ(TryGet(), LocalVerdict::kConsumed);
  EXPECT_EQ(TrySet(), LocalVerdict::kConsumed);
  EXPECT_EQ(info().m_key_violations, 2);
}

TEST_F(MKeyTest, ViolationsSaturate) {
  info().m_key_violations = 0xffff;
  TrySet();
  EXPECT_EQ(info().m_key_violations, 0xffff);
}

TEST_F(MKeyTest, ProtectionEndsWhenTheLeaseRunsOut) {
  Protect(2);
  EXPECT_EQ(TryGet(), LocalVerdict::kConsumed);
  timers_.RunFor(absl::Seconds(9));
  EXPECT_EQ(TryGet(), LocalVerdict::kConsumed);
  timers_.RunFor(absl::Seconds(1));
  EXPECT_EQ(TryGet(), LocalVerdict::kReply);
  EXPECT_EQ(info().m_key_protect_bits, 0);
}

TEST_F(MKeyTest, TheHolderOfTheKeyRenewsTheLease) {
  Protect(2);
  TryGet();
  timers_.RunFor(absl::Seconds(9));
  m_key_ = 0x1234;
  EXPECT_EQ(TryGet(), LocalVerdict::kReply);
  m_key_ = 0;
  timers_.RunFor(absl::Seconds(5));
  EXPECT_EQ(TryGet(), LocalVerdict::kConsumed);
}

TEST_F(MKeyTest, WithoutLeasePeriodProtectionNeverEnds) {
  Protect(2);
  info().m_key_lease_period = 0;
  TryGet();
  timers_.RunFor(absl::Hours(24));
  EXPECT_EQ(TryGet(), LocalVerdict::kConsumed);
}

TEST_F(MKeyTest, ASwitchGuardsAllItsPortsWithPortZerosKey) {
  PortOf(kSwitch, 0).info.m_key = 0x99;
  Send(kSwitch, 2, Request(Method::kSet, AttributeId::kLedInfo, 0));
  EXPECT_EQ(verdict_, LocalVerdict::kConsumed);
  EXPECT_EQ(PortOf(kSwitch, 0).info.m_key_violations, 1);
}

}  // namespace
}  // namespace ibemu::fabric
