// Every field that libibmad knows is where libibmad finds it.
#include <infiniband/mad.h>

#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mad/wire/class_port_info.h"
#include "mad/wire/congestion.h"
#include "mad/wire/mellanox.h"
#include "mad/wire/notice.h"
#include "mad/wire/port_counters.h"
#include "mad/wire/port_diagnostics.h"
#include "mad/wire/port_event_counters.h"
#include "mad/wire/port_lane_counters.h"
#include "mad/wire/port_samples.h"
#include "mad/wire/sa.h"
#include "mad/wire/sa_paths.h"
#include "mad/wire/sa_records.h"
#include "mad/wire/sa_services.h"
#include "mad/wire/smp.h"
#include "tests/mad/wire/vendor.h"

namespace ibemu::mad {
namespace {

constexpr int kRounds = 100;

// The values of all components without a structure in it, in table order.
struct Leaves {
  template <class V>
  void Add(const V& value) {
    if constexpr (wire::Structure<V>) {
      wire::ForEach(value, [this](std::string_view name, const auto& part) {
        if (!skipped.contains(name)) Add(part);
      });
    } else if constexpr (requires { value.size(); }) {
      for (const auto& element : value) Add(element);
    } else {
      values.push_back(static_cast<uint64_t>(value));
    }
  }

  std::set<std::string_view> skipped;
  std::vector<uint64_t> values;
};

// From `first` to `last`, inclusive.
std::vector<int> Interval(int first, int last) {
  std::vector<int> fields;
  for (int field = first; field <= last; ++field) fields.push_back(field);
  return fields;
}
std::vector<int> operator+(std::vector<int> a, const std::vector<int>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// libibmad writes 4 bytes (host order) or 8, by the field's length.
uint64_t FromLibrary(std::span<std::byte> bytes, int field) {
  uint64_t value = 0;
  mad_decode_field(reinterpret_cast<uint8_t*>(bytes.data()),
                   static_cast<MAD_FIELDS>(field), &value);
  return value;
}

// `fields` name T's components in table order, but for those in `skipped`.
template <class T>
void ExpectAgreement(const std::vector<int>& fields,
                     const std::set<std::string_view>& skipped = {}) {
  Random random(42);
  for (int round = 0; round < kRounds; ++round) {
    std::array<std::byte, 256> received, sent{};
    for (std::byte& b : received) b = static_cast<std::byte>(random.Next());
    const T value = wire::Decode<T>(received);
    wire::Encode(value, sent);

    Leaves leaves{.skipped = skipped, .values = {}};
    leaves.Add(value);
    ASSERT_EQ(leaves.values.size(), fields.size());
    for (size_t i = 0; i < fields.size(); ++i) {
      const char* name = mad_field_name(static_cast<MAD_FIELDS>(fields[i]));
      ASSERT_EQ(leaves.values[i], FromLibrary(received, fields[i])) << name;
      ASSERT_EQ(leaves.values[i], FromLibrary(sent, fields[i])) << name;
    }
  }
}

TEST(LibibmadTest, AgreesOnHeaders) {
  ExpectAgreement<Smp>(
      {IB_MAD_BASEVER_F, IB_MAD_MGMTCLASS_F, IB_MAD_CLASSVER_F,
       IB_DRSMP_DIRECTION_F, IB_DRSMP_STATUS_F, IB_DRSMP_HOPPTR_F,
       IB_DRSMP_HOPCNT_F, IB_MAD_TRID_F, IB_MAD_ATTRID_F, IB_MAD_ATTRMOD_F,
       IB_MAD_MKEY_F, IB_DRSMP_DRSLID_F, IB_DRSMP_DRDLID_F},
      {"R/Method", "SMPData", "InitialPath", "ReturnPath"});
  ExpectAgreement<SaHeader>(
      {IB_MAD_BASEVER_F, IB_MAD_MGMTCLASS_F, IB_MAD_CLASSVER_F, IB_MAD_STATUS_F,
       IB_MAD_TRID_F, IB_MAD_ATTRID_F, IB_MAD_ATTRMOD_F, IB_SA_RMPP_VERS_F,
       IB_SA_RMPP_TYPE_F, IB_SA_RMPP_RESP_F, IB_SA_RMPP_STATUS_F,
       IB_SA_RMPP_SEGNUM_F, IB_SA_RMPP_D2_F, IB_SA_MKEY_F, IB_SA_ATTROFFS_F,
       IB_SA_COMPMASK_F},
      {"R/Method", "ClassSpecific", "RMPPFlags.Last", "RMPPFlags.First",
       "RMPPFlags.Active"});
}

TEST(LibibmadTest, AgreesOnSubnetManagement) {
  ExpectAgreement<PortInfo>(
      Interval(IB_PORT_FIRST_F, IB_PORT_LINK_ROUND_TRIP_F) +
          Interval(IB_PORT_CAPMASK2_F, IB_PORT_LINK_SPEED_EXT_ENABLED_F),
      {"LinkSpeedExtActive2", "LinkSpeedExtSupported2",
       "LinkSpeedExtEnabled2"});
  ExpectAgreement<NodeInfo>(Interval(IB_NODE_FIRST_F, IB_NODE_VENDORID_F));
  ExpectAgreement<SwitchInfo>(Interval(IB_SW_FIRST_F, IB_SW_MCAST_FDB_TOP_F));
  ExpectAgreement<SmInfo>(Interval(IB_SMINFO_GUID_F, IB_SMINFO_STATE_F));
  ExpectAgreement<GuidInfo>({IB_GI_GUID0_F, IB_GI_GUID1_F, IB_GI_GUID2_F,
                             IB_GI_GUID3_F, IB_GI_GUID4_F, IB_GI_GUID5_F,
                             IB_GI_GUID6_F, IB_GI_GUID7_F});
  ExpectAgreement<Notice>(Interval(IB_NOTICE_IS_GENERIC_F, IB_NOTICE_COUNT_F),
                          {"DataDetails"});
  ExpectAgreement<PortInfoExtended>(
      Interval(IB_PORT_EXT_FIRST_F, IB_PORT_EXT_EDR_FEC_MODE_ENABLED_F),
      {"HDRFECModeSupported", "HDRFECModeEnabled", "NDRFECModeSupported",
       "NDRFECModeEnabled"});  // libibmad swaps the halves of their words
  ExpectAgreement<MellanoxExtendedPortInfo>(
      Interval(IB_MLNX_EXT_PORT_STATE_CHG_ENABLE_F,
               IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F));
  ExpectAgreement<ClassPortInfo>(
      Interval(IB_CPI_BASEVER_F, IB_CPI_RESP_TIME_VALUE_F) +
          Interval(IB_CPI_REDIRECT_TC_F, IB_CPI_REDIRECT_QKEY_F) +
          Interval(IB_CPI_TRAP_TC_F, IB_CPI_TRAP_QKEY_F),
      {"RedirectGID", "TrapGID"});
}

// libibmad counts from the start of the Notice.
struct Trap144 {
  static constexpr int kBits = 512;
  LocalChangeDetails details;
  static constexpr auto Layout() {
    return wire::Table(wire::Reserved(80, 0),
                       wire::Ro(&Trap144::details, "Details", 432, 80));
  }
};

TEST(LibibmadTest, AgreesOnTrapDetails) {
  ExpectAgreement<Trap144>(
      {IB_NOTICE_DATA_144_LID_F, IB_NOTICE_DATA_144_CAPMASK_F},
      {"OtherLocalChanges", "CapabilityMask2Change", "HierarchyInfoChange",
       "LinkSpeedEnabledChange", "LinkWidthEnabledChange",
       "NodeDescriptionChange", "CAPABILITYMASK2"});
}

TEST(LibibmadTest, AgreesOnPortCounters) {
  ExpectAgreement<PortCounters>(
      Interval(IB_PC_PORT_SELECT_F, IB_PC_XMT_WAIT_F),
      {"QP1Dropped"});  // libibmad reads VL15Dropped for it
  ExpectAgreement<PortCountersExtended>(
      Interval(IB_PC_EXT_PORT_SELECT_F, IB_PC_EXT_COUNTER_SELECT_F) +
      std::vector<int>{IB_PC_EXT_COUNTER_SELECT2_F} +
      Interval(IB_PC_EXT_XMT_BYTES_F, IB_PC_EXT_RCV_MPKTS_F) +
      Interval(IB_PC_EXT_ERR_SYM_F, IB_PC_EXT_QP1_DROP_F));
  ExpectAgreement<PortSamplesControl>(
      Interval(IB_PSC_OPCODE_F, IB_PSC_SAMPLES_ONLY_OPT_MASK_F));
  ExpectAgreement<PortSamplesResult>(
      Interval(IB_PSR_TAG_F, IB_PSR_COUNTER14_F));
}

TEST(LibibmadTest, AgreesOnOptionalCounters) {
  const std::set<std::string_view> select = {"OpCode", "PortSelect",
                                             "CounterSelect"};
  ExpectAgreement<PortRcvErrorDetails>(
      Interval(IB_PC_RCV_LOCAL_PHY_ERR_F, IB_PC_RCV_LOOPING_ERR_F), select);
  ExpectAgreement<PortXmitDiscardDetails>(
      Interval(IB_PC_XMT_INACT_DISC_F, IB_PC_XMT_SW_HOL_DISC_F), select);
  ExpectAgreement<PortOpRcvCounters>(
      Interval(IB_PC_PORT_OP_RCV_PKTS_F, IB_PC_PORT_OP_RCV_DATA_F), select);
  ExpectAgreement<PortFlowCtlCounters>(
      Interval(IB_PC_PORT_XMIT_FLOW_PKTS_F, IB_PC_PORT_RCV_FLOW_PKTS_F),
      select);
  ExpectAgreement<PortExtendedSpeedsCounters>(
      Interval(IB_PESC_PORT_SELECT_F, IB_PESC_FEC_UNCORR_BLOCK_CTR_LANE11_F) +
      Interval(IB_PESC_PORT_FEC_CORR_BLOCK_CTR_F,
               IB_PESC_PORT_FEC_CORR_SYMBOL_CTR_F));
  ExpectAgreement<PortVlOpPackets>(
      Interval(IB_PC_PORT_VL_OP_PACKETS0_F, IB_PC_PORT_VL_OP_PACKETS15_F),
      select);
  ExpectAgreement<PortVlOpData>(
      Interval(IB_PC_PORT_VL_OP_DATA0_F, IB_PC_PORT_VL_OP_DATA15_F), select);
  ExpectAgreement<PortVlXmitFlowCtlUpdateErrors>(
      Interval(IB_PC_PORT_VL_XMIT_FLOW_CTL_UPDATE_ERRORS0_F,
               IB_PC_PORT_VL_XMIT_FLOW_CTL_UPDATE_ERRORS15_F),
      select);
  ExpectAgreement<PortVlXmitWaitCounters>(
      Interval(IB_PC_PORT_VL_XMIT_WAIT0_F, IB_PC_PORT_VL_XMIT_WAIT15_F),
      select);
  ExpectAgreement<SwPortVlCongestion>(
      Interval(IB_PC_SW_PORT_VL_CONGESTION0_F, IB_PC_SW_PORT_VL_CONGESTION15_F),
      select);
  ExpectAgreement<PortRcvConCtrl>(Interval(IB_PC_RCV_CON_CTRL_PKT_RCV_FECN_F,
                                           IB_PC_RCV_CON_CTRL_PKT_RCV_BECN_F),
                                  select);
  ExpectAgreement<PortSlRcvFecn>(
      Interval(IB_PC_SL_RCV_FECN0_F, IB_PC_SL_RCV_FECN15_F), select);
  ExpectAgreement<PortSlRcvBecn>(
      Interval(IB_PC_SL_RCV_BECN0_F, IB_PC_SL_RCV_BECN15_F), select);
  ExpectAgreement<PortXmitConCtrl>({IB_PC_XMIT_CON_CTRL_TIME_CONG_F}, select);
  ExpectAgreement<PortVlXmitTimeCong>(
      Interval(IB_PC_VL_XMIT_TIME_CONG0_F, IB_PC_VL_XMIT_TIME_CONG14_F),
      select);
  ExpectAgreement<PortXmitDataSl>(
      Interval(IB_PC_XMT_DATA_SL0_F, IB_PC_XMT_DATA_SL15_F), select);
  ExpectAgreement<PortRcvDataSl>(
      Interval(IB_PC_RCV_DATA_SL0_F, IB_PC_RCV_DATA_SL15_F), select);
}

TEST(LibibmadTest, AgreesOnSubnetAdministration) {
  ExpectAgreement<NodeRecord>(Interval(IB_SA_NR_LID_F, IB_SA_NR_VENDORID_F),
                              {"NodeDescription"});
  ExpectAgreement<GuidInfoRecord>(Interval(IB_SA_GIR_LID_F, IB_SA_GIR_GUID7_F));
  ExpectAgreement<PathRecord>(
      {IB_SA_PR_DLID_F, IB_SA_PR_SLID_F, IB_SA_PR_NPATH_F, IB_SA_PR_SL_F},
      {"ServiceID8MSB", "ServiceID56LSB", "DGID", "SGID", "RawTraffic",
       "FlowLabel", "HopLimit", "TClass", "Reversible", "P_Key", "QoSClass",
       "MtuSelector", "Mtu", "RateSelector", "Rate", "PacketLifeTimeSelector",
       "PacketLifeTime", "Preference"});
  ExpectAgreement<MultiPathRecord>(
      {IB_SA_MP_NPATH_F, IB_SA_MP_NSRC_F, IB_SA_MP_NDEST_F},
      {"RawTraffic", "FlowLabel", "HopLimit", "TClass", "Reversible", "P_Key",
       "QoSClass", "SL", "MtuSelector", "Mtu", "RateSelector", "Rate",
       "PacketLifeTimeSelector", "PacketLifeTime", "ServiceID8MSB",
       "IndependenceSelector", "ServiceID56LSB", "SDGID"});
  ExpectAgreement<McMemberRecord>(
      {IB_SA_MCM_QKEY_F, IB_SA_MCM_MLID_F, IB_SA_MCM_MTU_F, IB_SA_MCM_TCLASS_F,
       IB_SA_MCM_PKEY_F, IB_SA_MCM_RATE_F, IB_SA_MCM_SL_F,
       IB_SA_MCM_FLOW_LABEL_F, IB_SA_MCM_JOIN_STATE_F, IB_SA_MCM_PROXY_JOIN_F},
      {"MGID", "PortGID", "MTUSelector", "RateSelector",
       "PacketLifeTimeSelector", "PacketLifeTime", "HopLimit", "Scope"});
  ExpectAgreement<ServiceRecord>(
      {IB_SA_SR_ID_F, IB_SA_SR_PKEY_F, IB_SA_SR_LEASE_F},
      {"ServiceGID", "ServiceKey", "ServiceName", "ServiceData8",
       "ServiceData16", "ServiceData32", "ServiceData64"});
}

TEST(LibibmadTest, AgreesOnCongestionControl) {
  ExpectAgreement<CongestionHeader>({IB_CC_CCKEY_F}, {"MAD"});
  ExpectAgreement<CongestionInfo>(Interval(
      IB_CC_CONGESTION_INFO_F, IB_CC_CONGESTION_INFO_CONTROL_TABLE_CAP_F));
  ExpectAgreement<CongestionKeyInfo>(
      Interval(IB_CC_CONGESTION_KEY_INFO_CC_KEY_F,
               IB_CC_CONGESTION_KEY_INFO_CC_KEY_VIOLATIONS_F));
  ExpectAgreement<CongestionLogSwitch>(
      Interval(IB_CC_CONGESTION_LOG_LOGTYPE_F,
               IB_CC_CONGESTION_LOG_CONGESTION_FLAGS_F) +
          Interval(IB_CC_CONGESTION_LOG_SWITCH_LOG_EVENTS_COUNTER_F,
                   IB_CC_CONGESTION_LOG_SWITCH_CURRENT_TIME_STAMP_F),
      {"PortMap", "CongestionEntryList"});
  ExpectAgreement<CongestionLogEntrySwitch>(
      Interval(IB_CC_CONGESTION_LOG_ENTRY_SWITCH_SLID_F,
               IB_CC_CONGESTION_LOG_ENTRY_SWITCH_TIMESTAMP_F));
  ExpectAgreement<CongestionLogCa>(
      Interval(IB_CC_CONGESTION_LOG_LOGTYPE_F,
               IB_CC_CONGESTION_LOG_CONGESTION_FLAGS_F) +
          Interval(IB_CC_CONGESTION_LOG_CA_THRESHOLD_EVENT_COUNTER_F,
                   IB_CC_CONGESTION_LOG_CA_CURRENT_TIMESTAMP_F),
      {"CongestionLogEvent"});
  ExpectAgreement<CongestionLogEntryCa>(
      Interval(IB_CC_CONGESTION_LOG_ENTRY_CA_LOCAL_QP_CN_ENTRY_F,
               IB_CC_CONGESTION_LOG_ENTRY_CA_TIMESTAMP_CN_ENTRY_F));
  ExpectAgreement<SwitchCongestionSetting>(
      std::vector<int>{IB_CC_SWITCH_CONGESTION_SETTING_CONTROL_MAP_F} +
          Interval(IB_CC_SWITCH_CONGESTION_SETTING_THRESHOLD_F,
                   IB_CC_SWITCH_CONGESTION_SETTING_MARKING_RATE_F),
      {"VictimMask", "CreditMask"});
  ExpectAgreement<SwitchPortCongestionSettingElement>(Interval(
      IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_VALID_F,
      IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_CONG_PARM_MARKING_RATE_F));
  ExpectAgreement<CaCongestionSetting>(
      Interval(IB_CC_CA_CONGESTION_SETTING_PORT_CONTROL_F,
               IB_CC_CA_CONGESTION_SETTING_CONTROL_MAP_F),
      {"CACongestionEntryList"});
  ExpectAgreement<CaCongestionEntry>(
      Interval(IB_CC_CA_CONGESTION_ENTRY_CCTI_TIMER_F,
               IB_CC_CA_CONGESTION_ENTRY_CCTI_MIN_F));
  ExpectAgreement<CongestionControlTable>(
      {IB_CC_CONGESTION_CONTROL_TABLE_CCTI_LIMIT_F}, {"CCTI_Entry_List"});
  ExpectAgreement<CongestionControlTableEntry>(
      Interval(IB_CC_CONGESTION_CONTROL_TABLE_ENTRY_CCT_SHIFT_F,
               IB_CC_CONGESTION_CONTROL_TABLE_ENTRY_CCT_MULTIPLIER_F));
  ExpectAgreement<CongestionTimestamp>({IB_CC_TIMESTAMP_F});
}

}  // namespace
}  // namespace ibemu::mad
