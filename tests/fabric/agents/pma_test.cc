#include "fabric/agents/pma.h"

#include "fabric/agents/pma_counters.h"
#include "mad/wire/class_port_info.h"
#include "mad/wire/port_event_counters.h"
#include "mad/wire/port_lane_counters.h"
#include "mad/wire/port_samples.h"
#include "tests/fabric/agents/gmp_fixture.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, mad::LocalVerdict, mad::MadStatus, mad::Method,
    mad::MgmtClass, mad::PortCounters, mad::PortCountersExtended,
    mad::PortOpRcvCounters, mad::PortRcvErrorDetails, mad::PortSamplesControl,
    mad::PortSamplesResult, mad::PortSamplesResultExtended, mad::PortVlOpData,
    mad::PortVlOpPackets, mad::PortXmitDataSl, mad::PortXmitDiscardDetails,
    mad::SampleStatus;

class PmaTest : public GmpTest {
 protected:
  explicit PmaTest(const topology::Topology& topology = AdapterAndSwitch())
      : GmpTest(topology), pma_(subnet_, timers_) {}

  template <class T>
  GmpAnswer Ask(PortId to, Method method, const T& attribute) {
    mad::MadBytes mad{};
    wire::Encode(Header(MgmtClass::kPerformance, method, T::kId), mad);
    wire::Encode(attribute, std::span(mad).subspan(mad::kPerfDataOffset));
    return Send(pma_, to, mad);
  }
  template <class T>
  static T Data(const GmpAnswer& answer) {
    EXPECT_EQ(answer.verdict, LocalVerdict::kReply);
    EXPECT_EQ(answer.status(), MadStatus::kOk);
    return answer.As<T>(mad::kPerfDataOffset);
  }
  template <class T>
  T Get(PortId to, int port) {
    T attribute;
    attribute.port_select = static_cast<uint8_t>(port);
    return Data<T>(Ask(to, Method::kGet, attribute));
  }
  template <class T>
  T Set(PortId to, const T& attribute) {
    return Data<T>(Ask(to, Method::kSet, attribute));
  }
  MadStatus StatusOf(PortId to, Method method, AttributeId attribute,
                     uint8_t port, uint32_t modifier = 0) {
    mad::MadBytes mad{};
    wire::Encode(Header(MgmtClass::kPerformance, method, attribute, modifier),
                 mad);
    wire::Put<&PortCounters::port_select>(
        std::span(mad).subspan(mad::kPerfDataOffset), port);
    const GmpAnswer answer = Send(pma_, to, mad);
    EXPECT_EQ(answer.verdict, LocalVerdict::kReply);
    EXPECT_EQ(answer.header().method, Method::kGetResp);
    return answer.status();
  }

  Pma pma_;
};

TEST_F(PmaTest, SaysWhatItCan) {
  const auto answer = Ask(adapter(), Method::kGet, mad::ClassPortInfo{});
  const auto info = Data<mad::ClassPortInfo>(answer);
  EXPECT_EQ(answer.header().method, Method::kGetResp);
  EXPECT_EQ(answer.header().tid, 0x1234u);
  EXPECT_EQ(info.base_version, 1);
  EXPECT_EQ(info.class_version, 1);
  // AllPortSelect, 64 bits, PortXmitWait, QP1Dropped; 64-bit errors.
  EXPECT_EQ(info.capability_mask, 0x9300);
  EXPECT_EQ(info.capability_mask2, 2u);
}

TEST_F(PmaTest, ShowsWhatThePortCounted) {
  NodePort& port = Adapter(1);
  port.traffic = {.xmit_data = 1000,
                  .rcv_data = 2000,
                  .xmit_packets = 10,
                  .rcv_packets = 20};
  port.Events().symbol_errors = 1;
  port.Events().link_downed = 2;
  port.Events().rcv_local_physical_errors = 3;
  port.Events().rcv_malformed = 4;
  port.Events().relay_looping = 5;
  port.Events().xmit_inactive = 6;
  port.Events().qp1_dropped = 7;
  port.Events().vl15_dropped = 8;
  port.Events().xmit_wait = 9;
  const auto counters = Get<PortCounters>(adapter(), 1);
  EXPECT_EQ(counters.port_select, 1);
  EXPECT_EQ(counters.port_xmit_data, 1000u);
  EXPECT_EQ(counters.port_rcv_data, 2000u);
  EXPECT_EQ(counters.port_xmit_pkts, 10u);
  EXPECT_EQ(counters.port_rcv_pkts, 20u);
  EXPECT_EQ(counters.symbol_error_counter, 1);
  EXPECT_EQ(counters.link_downed_counter, 2);
  EXPECT_EQ(counters.port_rcv_errors, 7);
  EXPECT_EQ(counters.port_rcv_switch_relay_errors, 5);
  EXPECT_EQ(counters.port_xmit_discards, 6);
  EXPECT_EQ(counters.qp1_dropped, 7);
  EXPECT_EQ(counters.vl15_dropped, 8);
  EXPECT_EQ(counters.port_xmit_wait, 9u);
}

TEST_F(PmaTest, SaturatesInsteadOfWrapping) {
  NodePort& port = Adapter(1);
  port.traffic.xmit_data = uint64_t{1} << 32;
  port.Events().symbol_errors = 65536;
  port.Events().link_downed = 256;
  port.Events().local_link_integrity_errors = 16;
  const auto counters = Get<PortCounters>(adapter(), 1);
  EXPECT_EQ(counters.port_xmit_data, 0xffffffffu);
  EXPECT_EQ(counters.symbol_error_counter, 0xffff);
  EXPECT_EQ(counters.link_downed_counter, 0xff);
  EXPECT_EQ(counters.local_link_integrity_errors, 0xf);
  const auto wide = Get<PortCountersExtended>(adapter(), 1);
  EXPECT_EQ(wide.port_xmit_data, uint64_t{1} << 32);
  EXPECT_EQ(wide.symbol_error_counter, 65536u);
}

TEST_F(PmaTest, ClearsOnlyWhatIsSelected) {
  NodePort& port = Adapter(1);
  port.traffic = {.xmit_data = 1000, .rcv_data = 2000, .xmit_packets = 10};
  port.Events().symbol_errors = 5;
  port.Events().xmit_wait = 6;
  PortCounters clear;
  clear.port_select = 1;
  clear.counter_select = 1 << 12;  // PortXmitData
  clear.counter_select2 = 1;       // PortXmitWait
  const auto after = Set(adapter(), clear);
  EXPECT_EQ(after.port_xmit_data, 0u);
  EXPECT_EQ(after.port_xmit_wait, 0u);
  EXPECT_EQ(after.port_rcv_data, 2000u);
  EXPECT_EQ(after.symbol_error_counter, 5);
  EXPECT_EQ(after.counter_select, 1 << 12);
}

TEST_F(PmaTest, GoesOnFromTheValueThatWasSet) {
  Adapter(1).traffic.rcv_packets = 70;
  PortCounters set;
  set.port_select = 1;
  set.counter_select = 0x8000;
  set.port_rcv_pkts = 0xfffffffe;
  EXPECT_EQ(Set(adapter(), set).port_rcv_pkts, 0xfffffffeu);
  Adapter(1).traffic.rcv_packets += 1;
  EXPECT_EQ(Get<PortCounters>(adapter(), 1).port_rcv_pkts, 0xffffffffu);
  Adapter(1).traffic.rcv_packets += 1;
  EXPECT_EQ(Get<PortCounters>(adapter(), 1).port_rcv_pkts, 0xffffffffu);
}

TEST_F(PmaTest, ClearsTheExtendedCounterWithThePlainOne) {
  Adapter(1).traffic = {.xmit_data = 1000, .rcv_data = 2000};
  PortCounters clear;
  clear.port_select = 1;
  clear.counter_select = 1 << 12;
  Set(adapter(), clear);
  const auto wide = Get<PortCountersExtended>(adapter(), 1);
  EXPECT_EQ(wide.port_xmit_data, 0u);
  EXPECT_EQ(wide.port_rcv_data, 2000u);
}

TEST_F(PmaTest, TellsMulticastFromUnicast) {
  Adapter(1).traffic = {.xmit_packets = 10, .rcv_packets = 20};
  Adapter(1).Events().xmit_multicast_packets = 3;
  Adapter(1).Events().rcv_multicast_packets = 4;
  const auto wide = Get<PortCountersExtended>(adapter(), 1);
  EXPECT_EQ(wide.port_multicast_xmit_pkts, 3u);
  EXPECT_EQ(wide.port_multicast_rcv_pkts, 4u);
  EXPECT_EQ(wide.port_unicast_xmit_pkts, 7u);
  EXPECT_EQ(wide.port_unicast_rcv_pkts, 16u);
}

TEST_F(PmaTest, ClearsExtendedErrorsByTheirOwnSelect) {
  Adapter(1).Events().symbol_errors = 5;
  Adapter(1).Events().link_downed = 6;
  PortCountersExtended clear;
  clear.port_select = 1;
  clear.counter_select2 = 1;  // SymbolErrorCounter
  const auto after = Set(adapter(), clear);
  EXPECT_EQ(after.symbol_error_counter, 0u);
  EXPECT_EQ(after.link_downed_counter, 6u);
  EXPECT_EQ(Get<PortCounters>(adapter(), 1).symbol_error_counter, 0);
}

TEST_F(PmaTest, ShowsDetailsOfErrors) {
  NodePort& port = Switch(2);
  port.Events().rcv_local_physical_errors = 1;
  port.Events().rcv_malformed = 2;
  port.Events().rcv_buffer_overrun = 3;
  port.Events().relay_dlid_mapping = 4;
  port.Events().relay_vl_mapping = 5;
  port.Events().relay_looping = 6;
  port.Events().xmit_inactive = 7;
  port.Events().xmit_neighbor_mtu = 8;
  port.Events().xmit_lifetime = 9;
  port.Events().xmit_hoq_lifetime = 10;
  const auto errors = Get<PortRcvErrorDetails>(switch0(), 2);
  EXPECT_EQ(errors.port_local_physical_errors, 1);
  EXPECT_EQ(errors.port_malformed_packet_errors, 2);
  EXPECT_EQ(errors.port_buffer_overrun_errors, 3);
  EXPECT_EQ(errors.port_dlid_mapping_errors, 4);
  EXPECT_EQ(errors.port_vl_mapping_errors, 5);
  EXPECT_EQ(errors.port_looping_errors, 6);
  const auto discards = Get<PortXmitDiscardDetails>(switch0(), 2);
  EXPECT_EQ(discards.port_inactive_discards, 7);
  EXPECT_EQ(discards.port_neighbor_mtu_discards, 8);
  EXPECT_EQ(discards.port_sw_lifetime_limit_discards, 9);
  EXPECT_EQ(discards.port_sw_hoq_lifetime_limit_discards, 10);
}

TEST_F(PmaTest, KeepsDetailsWhenTheirSumIsCleared) {
  Switch(2).Events().relay_looping = 6;
  PortCounters clear;
  clear.port_select = 2;
  clear.counter_select = 0xffff;
  EXPECT_EQ(Set(switch0(), clear).port_rcv_switch_relay_errors, 0);
  EXPECT_EQ(Get<PortRcvErrorDetails>(switch0(), 2).port_looping_errors, 6);
}

TEST_F(PmaTest, SumsAllPortsWithoutABasePort0) {
  for (int number = 0; number <= 3; ++number) {
    Switch(number).traffic.xmit_packets = 10;
    Switch(number).Events().symbol_errors = 30000;
  }
  const auto sum = Get<PortCounters>(switch0(), mad::kAllPorts);
  EXPECT_EQ(sum.port_select, mad::kAllPorts);
  EXPECT_EQ(sum.port_xmit_pkts, 30u);
  EXPECT_EQ(sum.symbol_error_counter, 0xffff);
}

TEST_F(PmaTest, ClearsAllPortsAtOnce) {
  for (int number = 1; number <= 3; ++number) {
    Switch(number).traffic.xmit_packets = 10;
  }
  PortCounters clear;
  clear.port_select = mad::kAllPorts;
  clear.counter_select = 0xffff;
  EXPECT_EQ(Set(switch0(), clear).port_xmit_pkts, 0u);
  EXPECT_EQ(Get<PortCounters>(switch0(), 3).port_xmit_pkts, 0u);
}

class PmaEnhancedPort0Test : public PmaTest {
 protected:
  PmaEnhancedPort0Test() : PmaTest(AdapterAndSwitch(true)) {}
};

TEST_F(PmaEnhancedPort0Test, CountsPort0AmongAllPorts) {
  for (int number = 0; number <= 3; ++number) {
    Switch(number).traffic.xmit_packets = 10;
  }
  EXPECT_EQ(Get<PortCounters>(switch0(), mad::kAllPorts).port_xmit_pkts, 40u);
}

TEST_F(PmaTest, SplitsDataByServiceLevel) {
  NodePort& port = Adapter(1);
  port.traffic.xmit_data = 1000;
  EXPECT_EQ(Get<PortXmitDataSl>(adapter(), 1).counters[0], 1000u);
  // Lanes are counted from the first packet with an SL.
  port.lanes = std::make_unique<LaneCounters>();
  port.traffic.xmit_data = 1100;
  port.lanes->xmit_data_by_sl = {40, 0, 60};
  const auto split = Get<PortXmitDataSl>(adapter(), 1);
  EXPECT_EQ(split.counters[0], 1040u);
  EXPECT_EQ(split.counters[1], 0u);
  EXPECT_EQ(split.counters[2], 60u);
}

TEST_F(PmaTest, ClearsServiceLevelsBySelect) {
  NodePort& port = Adapter(1);
  port.traffic.xmit_data = 1100;
  port.lanes = std::make_unique<LaneCounters>();
  port.lanes->xmit_data_by_sl = {40, 0, 60};
  PortXmitDataSl clear;
  clear.port_select = 1;
  clear.counter_select = 1 << 2;
  const auto after = Set(adapter(), clear);
  EXPECT_EQ(after.counters[2], 0u);
  EXPECT_EQ(after.counters[0], 1040u);
}

TEST_F(PmaTest, SplitsPacketsByVirtualLane) {
  NodePort& port = Adapter(1);
  port.traffic.rcv_packets = 100;
  port.traffic.rcv_vl15_packets = 30;
  port.traffic.rcv_data = 7200;
  port.lanes = std::make_unique<LaneCounters>();
  port.lanes->rcv_packets_by_vl = {1, 9};
  port.lanes->rcv_data_by_vl = {72, 648};
  const auto packets = Get<PortVlOpPackets>(adapter(), 1);
  EXPECT_EQ(packets.counters[0], 61);
  EXPECT_EQ(packets.counters[1], 9);
  EXPECT_EQ(packets.counters[15], 30);
  const auto data = Get<PortVlOpData>(adapter(), 1);
  EXPECT_EQ(data.counters[0], 7200u - 30 * 72 - 648);
  EXPECT_EQ(data.counters[1], 648u);
  EXPECT_EQ(data.counters[15], 30u * 72);
}

TEST_F(PmaTest, CountsPacketsOfTheChosenOpCode) {
  NodePort& port = Adapter(1);
  port.traffic.rcv_packets = 20;
  port.traffic.rcv_data = 200;
  auto counters = Get<PortOpRcvCounters>(adapter(), 1);
  EXPECT_EQ(counters.op_code, 0x64);  // UD SEND only: every MAD
  EXPECT_EQ(counters.port_op_rcv_pkts, 20u);
  EXPECT_EQ(counters.port_op_rcv_data, 200u);

  counters = {.op_code = 0x04, .port_select = 1};  // RC SEND only
  counters = Set(adapter(), counters);
  EXPECT_EQ(counters.op_code, 0x04);
  EXPECT_EQ(counters.port_op_rcv_pkts, 0u);

  counters = {.op_code = 0x64, .port_select = 1};
  Set(adapter(), counters);
  port.traffic.rcv_packets += 3;
  EXPECT_EQ(Get<PortOpRcvCounters>(adapter(), 1).port_op_rcv_pkts, 3u);
}

TEST_F(PmaTest, AnswersEveryCounterAttribute) {
  for (const AttributeId id :
       {AttributeId::kPortRcvErrorDetails, AttributeId::kPortXmitDiscardDetails,
        AttributeId::kPortOpRcvCounters, AttributeId::kPortFlowCtlCounters,
        AttributeId::kPortVlOpPackets, AttributeId::kPortVlOpData,
        AttributeId::kPortVlXmitFlowCtlUpdateErrors,
        AttributeId::kPortVlXmitWaitCounters,
        AttributeId::kPortCountersExtended,
        AttributeId::kPortExtendedSpeedsCounters,
        AttributeId::kSwPortVlCongestion, AttributeId::kPortRcvConCtrl,
        AttributeId::kPortSlRcvFecn, AttributeId::kPortSlRcvBecn,
        AttributeId::kPortXmitConCtrl, AttributeId::kPortVlXmitTimeCong,
        AttributeId::kPortXmitDataSl, AttributeId::kPortRcvDataSl}) {
    for (const Method method : {Method::kGet, Method::kSet}) {
      EXPECT_EQ(StatusOf(switch0(), method, id, 1), MadStatus::kOk)
          << static_cast<int>(id);
    }
  }
}

TEST_F(PmaTest, HasSwitchCountersOnlyOnSwitches) {
  EXPECT_EQ(
      StatusOf(adapter(), Method::kGet, AttributeId::kSwPortVlCongestion, 1),
      MadStatus::kUnsupportedAttribute);
}

TEST_F(PmaTest, RefusesPortsThatTheNodeDoesNotHave) {
  const AttributeId id = AttributeId::kPortCounters;
  EXPECT_EQ(StatusOf(adapter(), Method::kGet, id, 2), MadStatus::kOk);
  EXPECT_EQ(StatusOf(adapter(), Method::kGet, id, 3), MadStatus::kInvalidField);
  EXPECT_EQ(StatusOf(switch0(), Method::kGet, id, 0), MadStatus::kOk);
  EXPECT_EQ(StatusOf(switch0(), Method::kGet, id, 4), MadStatus::kInvalidField);
  EXPECT_EQ(StatusOf(switch0(), Method::kSet, id, 254),
            MadStatus::kInvalidField);
}

TEST_F(PmaTest, TakesPort0OfAnAdapterForTheOneAsked) {
  Adapter(2).traffic.xmit_packets = 7;
  const auto counters =
      Get<PortCounters>(subnet_.port_id(topology::NodeId{0}, 2), 0);
  EXPECT_EQ(counters.port_xmit_pkts, 7u);
  EXPECT_EQ(counters.port_select, 0);
}

TEST_F(PmaTest, KeepsTheSumOfUnicastAndMulticastWhenPacketsAreCleared) {
  Adapter(1).traffic = {.xmit_packets = 10, .rcv_packets = 20};
  Adapter(1).Events().xmit_multicast_packets = 3;
  Adapter(1).Events().rcv_multicast_packets = 4;
  PortCounters clear;
  clear.port_select = 1;
  clear.counter_select = 0xc000;
  Set(adapter(), clear);
  Adapter(1).traffic.xmit_packets += 5;
  Adapter(1).Events().xmit_multicast_packets += 2;
  const auto wide = Get<PortCountersExtended>(adapter(), 1);
  EXPECT_EQ(wide.port_xmit_pkts, 5u);
  EXPECT_EQ(wide.port_unicast_xmit_pkts, 3u);
  EXPECT_EQ(wide.port_multicast_xmit_pkts, 2u);
  EXPECT_EQ(wide.port_unicast_rcv_pkts, 0u);
}

TEST_F(PmaTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(StatusOf(adapter(), Method::kGet, AttributeId{0x13}, 1),
            MadStatus::kUnsupportedAttribute);
  EXPECT_EQ(StatusOf(adapter(), Method::kSet, AttributeId::kClassPortInfo, 1),
            MadStatus::kUnsupportedAttribute);
  EXPECT_EQ(
      StatusOf(adapter(), Method::kSet, AttributeId::kPortSamplesResult, 1),
      MadStatus::kUnsupportedAttribute);
  EXPECT_EQ(StatusOf(adapter(), Method::kGet, AttributeId::kPortCounters, 1, 7),
            MadStatus::kInvalidField);
}

TEST_F(PmaTest, RefusesOtherClassVersions) {
  mad::MadBytes mad{};
  auto header = Header(MgmtClass::kPerformance, Method::kGet,
                       AttributeId::kClassPortInfo);
  header.class_version = 2;
  wire::Encode(header, mad);
  EXPECT_EQ(Send(pma_, adapter(), mad).status(),
            MadStatus::kUnsupportedVersion);
}

TEST_F(PmaTest, LeavesOtherMethodsToAgents) {
  for (const Method method :
       {Method::kGetResp, Method::kSend, Method::kTrap, Method::kTrapRepress}) {
    mad::MadBytes mad{};
    wire::Encode(
        Header(MgmtClass::kPerformance, method, AttributeId::kPortCounters),
        mad);
    EXPECT_EQ(Send(pma_, adapter(), mad).verdict, LocalVerdict::kUnhandled);
  }
}

TEST_F(PmaTest, SamplesForTheIntervalAfterTheStart) {
  PortSamplesControl control;
  control.port_select = 2;
  control.sample_start = 10;  // ticks of 1 us
  control.sample_interval = 100;
  control.tag = 77;
  control.counter_select = {1, 3};  // PortXmitData, PortXmitPkts
  NodePort& port = Switch(2);
  port.traffic = {.xmit_data = 500, .xmit_packets = 5};

  EXPECT_EQ(Set(switch0(), control).sample_status, SampleStatus::kPending);
  timers_.RunFor(absl::Microseconds(9));
  port.traffic.xmit_packets = 6;  // before the start: not counted
  timers_.RunFor(absl::Microseconds(1));
  EXPECT_EQ(Get<PortSamplesControl>(switch0(), 2).sample_status,
            SampleStatus::kRunning);
  port.traffic.xmit_data = 800;
  port.traffic.xmit_packets = 9;
  timers_.RunFor(absl::Microseconds(100));
  port.traffic.xmit_packets = 50;  // after the end

  const auto result = Data<PortSamplesResult>(
      Ask(switch0(), Method::kGet, PortSamplesResult{}));
  EXPECT_EQ(result.tag, 77);
  EXPECT_EQ(result.sample_status, SampleStatus::kDone);
  EXPECT_EQ(result.counters[0], 300u);
  EXPECT_EQ(result.counters[1], 3u);
  EXPECT_EQ(result.counters[2], 0u);
  const auto wide = Data<PortSamplesResultExtended>(
      Ask(switch0(), Method::kGet, PortSamplesResultExtended{}));
  EXPECT_EQ(wide.extended_width, 2);
  EXPECT_EQ(wide.counters[0], 300u);
}

TEST_F(PmaTest, LetsASampleFinishBeforeTheNext) {
  PortSamplesControl control;
  control.port_select = 1;
  control.sample_interval = 100;
  control.tag = 1;
  Set(switch0(), control);
  control.tag = 2;
  EXPECT_EQ(Set(switch0(), control).tag, 1);
  timers_.RunFor(absl::Microseconds(100));
  EXPECT_EQ(Set(switch0(), control).tag, 2);
}

TEST_F(PmaTest, SaysHowItSamples) {
  const auto control = Get<PortSamplesControl>(adapter(), 1);
  EXPECT_EQ(control.port_select, 1);
  EXPECT_EQ(control.tick, 249);         // 250 times 4 ns
  EXPECT_EQ(control.counter_width, 4);  // 32 bits
  EXPECT_EQ(control.counter_mask0, 1);
  // Counters 1 to 4, three bits each, from the left of 27 bits.
  EXPECT_EQ(control.counter_masks1_to_9,
            0b001'001'001'001'000'000'000'000'000u);
  EXPECT_EQ(control.sample_status, SampleStatus::kDone);
}

TEST(PmaCountersTest, FindsCountersByTheirNames) {
  ASSERT_NE(FindCounter("PortXmitData"), nullptr);
  EXPECT_EQ(FindCounter("portxmitdata")->counter, Counter::kXmitData);
  EXPECT_EQ(FindCounter("PortXmit"), nullptr);
  EXPECT_EQ(NamedCounters().size(), 32u);
}

TEST(PmaCountersTest, ClearsEverythingAPortCounted) {
  NodePort port;
  port.traffic = {.xmit_data = 1, .rcv_data = 2};
  port.Events().symbol_errors = 3;
  ClearCounters(port);
  for (const NamedCounter& named : NamedCounters()) {
    EXPECT_EQ(ReadCounter(port, named.counter), 0u) << named.name;
  }
  EXPECT_EQ(ReadCounter(port, At(Counter::kRcvDataSl, 0)), 0u);
  port.traffic.xmit_data = 11;
  EXPECT_EQ(ReadCounter(port, Counter::kXmitData), 10u);
}

}  // namespace
}  // namespace ibemu::fabric
