#include "fabric/agents/congestion_control.h"

#include "mad/wire/class_port_info.h"
#include "mad/wire/congestion.h"
#include "tests/fabric/agents/gmp_fixture.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, mad::CaCongestionSetting, mad::CongestionControlTable,
    mad::CongestionInfo, mad::CongestionKeyInfo, mad::CongestionLogCa,
    mad::CongestionLogSwitch, mad::CongestionTimestamp, mad::LocalVerdict,
    mad::MadStatus, mad::Method, mad::MgmtClass, mad::SwitchCongestionSetting,
    mad::SwitchPortCongestionSetting;

class CongestionControlTest : public GmpTest {
 protected:
  CongestionControlTest() : agent_(subnet_, timers_) {}

  template <class T>
  GmpAnswer Ask(PortId to, Method method, const T& attribute,
                uint32_t modifier = 0, uint64_t key = 0) {
    mad::CongestionHeader header;
    header.mad =
        Header(MgmtClass::kCongestionControl, method, T::kId, modifier);
    header.mad.class_version = mad::kCongestionClassVersion;
    header.cc_key = key;
    mad::MadBytes mad{};
    wire::Encode(header, mad);
    const size_t offset = T::kId == AttributeId::kCongestionLog
                              ? mad::kCongestionLogOffset
                              : mad::kCongestionDataOffset;
    wire::Encode(attribute, std::span(mad).subspan(offset));
    return Send(agent_, to, mad);
  }
  template <class T>
  T Get(PortId to, uint32_t modifier = 0, uint64_t key = 0,
        size_t offset = mad::kCongestionDataOffset) {
    const GmpAnswer answer = Ask(to, Method::kGet, T{}, modifier, key);
    EXPECT_EQ(answer.verdict, LocalVerdict::kReply);
    EXPECT_EQ(answer.header().method, Method::kGetResp);
    EXPECT_EQ(answer.status(), MadStatus::kOk);
    return answer.As<T>(offset);
  }
  template <class T>
  MadStatus Set(PortId to, const T& attribute, uint32_t modifier = 0,
                uint64_t key = 0) {
    const GmpAnswer answer = Ask(to, Method::kSet, attribute, modifier, key);
    EXPECT_EQ(answer.verdict, LocalVerdict::kReply);
    return answer.status();
  }
  void SetKey(uint64_t key, bool protect, uint16_t lease) {
    const CongestionKeyInfo info{
        .cc_key = key, .protect_bit = protect, .lease_period = lease};
    ASSERT_EQ(Set(adapter(), info), MadStatus::kOk);
  }

  CongestionControl agent_;
};

TEST_F(CongestionControlTest, SaysWhatItIs) {
  EXPECT_EQ(Get<mad::ClassPortInfo>(adapter()).class_version, 2);
  EXPECT_EQ(Get<CongestionInfo>(adapter()).control_table_cap, 4);
  EXPECT_EQ(Get<CongestionInfo>(switch0()).control_table_cap, 0);
}

TEST_F(CongestionControlTest, KeepsASwitchsSetting) {
  SwitchCongestionSetting setting;
  setting.control_map = 0x1f;
  setting.victim_mask[31] = std::byte{0xfe};
  setting.threshold = 15;
  setting.packet_size = 8;
  setting.cs_return_delay = 0x4001;
  setting.marking_rate = 1;
  EXPECT_EQ(Set(switch0(), setting), MadStatus::kOk);
  EXPECT_EQ(Get<SwitchCongestionSetting>(switch0()), setting);
}

TEST_F(CongestionControlTest, KeepsTheSettingOfEachSwitchPort) {
  SwitchPortCongestionSetting setting;
  setting.elements[0].valid = true;  // port 0
  setting.elements[3] = {.valid = true, .threshold = 9, .marking_rate = 700};
  setting.elements[4].valid = true;  // there is no port 4
  EXPECT_EQ(Set(switch0(), setting), MadStatus::kOk);
  const auto kept = Get<SwitchPortCongestionSetting>(switch0());
  EXPECT_EQ(kept.elements[0], setting.elements[0]);
  EXPECT_EQ(kept.elements[3], setting.elements[3]);
  EXPECT_FALSE(kept.elements[4].valid);
  EXPECT_EQ(Set(switch0(), setting, 1), MadStatus::kInvalidField);
}

TEST_F(CongestionControlTest, KeepsAnAdaptersSettingPerPort) {
  CaCongestionSetting setting;
  setting.port_control = 1;
  setting.control_map = 0x3;
  setting.entries[1] = {.ccti_timer = 150, .ccti_increase = 1};
  EXPECT_EQ(Set(adapter(), setting), MadStatus::kOk);
  EXPECT_EQ(Get<CaCongestionSetting>(adapter()), setting);
  EXPECT_EQ(Get<CaCongestionSetting>(subnet_.port_id(topology::NodeId{0}, 2)),
            CaCongestionSetting{});
}

TEST_F(CongestionControlTest, KeepsTheTableBlockByBlock) {
  CongestionControlTable block;
  block.ccti_limit = 127;
  block.entries[63] = {.shift = 2, .multiplier = 77};
  EXPECT_EQ(Set(adapter(), block, 1), MadStatus::kOk);
  EXPECT_EQ(Get<CongestionControlTable>(adapter(), 1), block);
  const auto first = Get<CongestionControlTable>(adapter(), 0);
  EXPECT_EQ(first.ccti_limit, 127);  // one limit for all blocks
  EXPECT_EQ(first.entries[63].multiplier, 0);
}

TEST_F(CongestionControlTest, RefusesWhatIsBeyondTheTable) {
  CongestionControlTable block;
  block.ccti_limit = 255;
  EXPECT_EQ(Set(adapter(), block, 3), MadStatus::kOk);
  EXPECT_EQ(Set(adapter(), block, 4), MadStatus::kInvalidField);
  block.ccti_limit = 256;
  EXPECT_EQ(Set(adapter(), block, 3), MadStatus::kInvalidField);
  EXPECT_EQ(Ask(adapter(), Method::kGet, CongestionControlTable{}, 4).status(),
            MadStatus::kInvalidField);
}

TEST_F(CongestionControlTest, RefusesAttributesOfTheOtherKindOfNode) {
  const MadStatus unsupported = MadStatus::kUnsupportedAttribute;
  EXPECT_EQ(Set(adapter(), SwitchCongestionSetting{}), unsupported);
  EXPECT_EQ(Set(adapter(), SwitchPortCongestionSetting{}), unsupported);
  EXPECT_EQ(Set(switch0(), CaCongestionSetting{}), unsupported);
  EXPECT_EQ(Set(switch0(), CongestionControlTable{}), unsupported);
  EXPECT_EQ(Set(switch0(), CongestionInfo{}), unsupported);
}

TEST_F(CongestionControlTest, HasALogWithoutEvents) {
  timers_.RunFor(absl::Nanoseconds(5 * 1024));
  const auto ca =
      Get<CongestionLogCa>(adapter(), 0, 0, mad::kCongestionLogOffset);
  EXPECT_EQ(ca.log_type, 2);
  EXPECT_EQ(ca.current_timestamp, 5u);
  EXPECT_EQ(ca.entries[0], mad::CongestionLogEntryCa{});
  const auto sw =
      Get<CongestionLogSwitch>(switch0(), 0, 0, mad::kCongestionLogOffset);
  EXPECT_EQ(sw.log_type, 1);
  EXPECT_EQ(sw.log_events_counter, 0);
  EXPECT_EQ(Get<CongestionTimestamp>(switch0()).timestamp, 5u);
}

TEST_F(CongestionControlTest, DropsASetWithoutTheKey) {
  SetKey(0xabc, false, 0);
  EXPECT_EQ(Ask(adapter(), Method::kSet, CaCongestionSetting{}).verdict,
            LocalVerdict::kConsumed);
  EXPECT_EQ(Set(adapter(), CaCongestionSetting{}, 0, 0xabc), MadStatus::kOk);
  EXPECT_EQ(Get<CongestionKeyInfo>(adapter()).violations, 1);
}

TEST_F(CongestionControlTest, HidesAProtectedKey) {
  SetKey(0xabc, false, 0);
  EXPECT_EQ(Get<CongestionKeyInfo>(adapter()).cc_key, 0xabcu);
  const CongestionKeyInfo hidden{.cc_key = 0xabc, .protect_bit = true};
  EXPECT_EQ(Set(adapter(), hidden, 0, 0xabc), MadStatus::kOk);
  EXPECT_EQ(Get<CongestionKeyInfo>(adapter()).cc_key, 0u);
  EXPECT_EQ(Get<CongestionKeyInfo>(adapter(), 0, 0xabc).cc_key, 0xabcu);
}

TEST_F(CongestionControlTest, ShowsALostKeyWhenItsLeaseRanOut) {
  SetKey(0xabc, true, 30);
  timers_.RunFor(absl::Seconds(100));  // a lease runs from the first violation
  EXPECT_EQ(Get<CongestionKeyInfo>(adapter()).cc_key, 0u);
  Ask(adapter(), Method::kSet, CaCongestionSetting{}, 0, 1);
  timers_.RunFor(absl::Seconds(29));
  EXPECT_EQ(Get<CongestionKeyInfo>(adapter()).cc_key, 0u);
  timers_.RunFor(absl::Seconds(1));
  EXPECT_EQ(Get<CongestionKeyInfo>(adapter()).cc_key, 0xabcu);
}

TEST_F(CongestionControlTest, EndsTheLeaseWhenTheKeyIsUsed) {
  SetKey(0xabc, true, 30);
  Ask(adapter(), Method::kSet, CaCongestionSetting{}, 0, 1);
  timers_.RunFor(absl::Seconds(29));
  Get<CongestionKeyInfo>(adapter(), 0, 0xabc);
  timers_.RunFor(absl::Seconds(29));
  EXPECT_EQ(Get<CongestionKeyInfo>(adapter()).cc_key, 0u);
}

TEST_F(CongestionControlTest, ClearsViolationsByWritingZero) {
  SetKey(0xabc, false, 0);
  Ask(adapter(), Method::kSet, CaCongestionSetting{});
  CongestionKeyInfo info{.cc_key = 0xabc, .violations = 9};
  EXPECT_EQ(Set(adapter(), info, 0, 0xabc), MadStatus::kOk);
  EXPECT_EQ(Get<CongestionKeyInfo>(adapter()).violations, 1);
  info.violations = 0;
  EXPECT_EQ(Set(adapter(), info, 0, 0xabc), MadStatus::kOk);
  EXPECT_EQ(Get<CongestionKeyInfo>(adapter()).violations, 0);
}

TEST_F(CongestionControlTest, RefusesOtherClassVersions) {
  mad::MadBytes mad{};
  wire::Encode(Header(MgmtClass::kCongestionControl, Method::kGet,
                      AttributeId::kClassPortInfo),
               mad);
  EXPECT_EQ(Send(agent_, adapter(), mad).status(),
            MadStatus::kUnsupportedVersion);
}

TEST_F(CongestionControlTest, LeavesOtherMethodsToAgents) {
  EXPECT_EQ(Ask(adapter(), Method::kGetResp, CongestionInfo{}).verdict,
            LocalVerdict::kUnhandled);
}

class WideSwitchTest : public CongestionControlTest {
 protected:
  WideSwitchTest() {
    topology::Topology topology;
    topology::NodeSpec sw;
    sw.type = mad::NodeType::kSwitch;
    sw.port_count = 40;
    topology.nodes = {sw};
    wide_ = std::make_unique<Subnet>(topology);
  }
  std::unique_ptr<Subnet> wide_;
};

TEST_F(WideSwitchTest, ShowsTheWholeOfASwitchToIbccquery) {
  CongestionControl agent(*wide_, timers_);
  const PortId to = wide_->port_id(topology::NodeId{0}, 0);
  const auto ask = [&](Method method, uint32_t block,
                       const SwitchPortCongestionSetting& setting) {
    mad::MadBytes mad{};
    auto header = Header(MgmtClass::kCongestionControl, method,
                         SwitchPortCongestionSetting::kId, block);
    header.class_version = mad::kCongestionClassVersion;
    wire::Encode(header, mad);
    wire::Encode(setting, std::span(mad).subspan(mad::kCongestionDataOffset));
    return Send(agent, to, mad);
  };
  SwitchPortCongestionSetting second;
  second.elements[8].marking_rate = 0x1234;  // port 40
  EXPECT_EQ(ask(Method::kSet, 1, second).status(), MadStatus::kOk);
  // It reads 48 ports at once.
  const GmpAnswer answer = ask(Method::kGet, 0, {});
  EXPECT_EQ(answer
                .As<mad::SwitchPortCongestionSettingElement>(
                    mad::kCongestionDataOffset + 40 * 4)
                .marking_rate,
            0x1234);
}

}  // namespace
}  // namespace ibemu::fabric
