#include "mad/attribute_names.h"

#include <algorithm>

namespace ibemu::mad {
namespace {

using enum AttributeId;

constexpr std::nullopt_t kAny = std::nullopt;
constexpr MgmtClass kSm = MgmtClass::kSubnetLidRouted;
constexpr MgmtClass kPm = MgmtClass::kPerformance;
constexpr MgmtClass kSa = MgmtClass::kSubnetAdministration;
constexpr MgmtClass kVendor = MgmtClass::kMellanox;
constexpr MgmtClass kCc = MgmtClass::kCongestionControl;

constexpr MgmtClass kCm = MgmtClass::kCommunication;

// The messages of the communication manager (cm/wire/message.h).
constexpr AttributeId CmMessage(uint16_t id) { return AttributeId{id}; }

constexpr AttributeName kAttributes[] = {
    {"ClassPortInfo", kClassPortInfo, kAny},
    {"Notice", kNotice, kAny},
    {"InformInfo", kInformInfo, kAny},
    {"NodeDescription", kNodeDescription, kSm},
    {"NodeInfo", kNodeInfo, kSm},
    {"SwitchInfo", kSwitchInfo, kSm},
    {"GUIDInfo", kGuidInfo, kSm},
    {"PortInfo", kPortInfo, kSm},
    {"P_KeyTable", kPKeyTable, kSm},
    {"SLtoVLMappingTable", kSlToVlMappingTable, kSm},
    {"VLArbitrationTable", kVlArbitrationTable, kSm},
    {"LinearForwardingTable", kLinearForwardingTable, kSm},
    {"RandomForwardingTable", kRandomForwardingTable, kSm},
    {"MulticastForwardingTable", kMulticastForwardingTable, kSm},
    {"LinkSpeedWidthPairsTable", kLinkSpeedWidthPairsTable, kSm},
    {"VendorSpecificMadsTable", kVendorSpecificMadsTable, kSm},
    {"HierarchyInfo", kHierarchyInfo, kSm},
    {"SMInfo", kSmInfo, kSm},
    {"VendorDiag", kVendorDiag, kSm},
    {"LedInfo", kLedInfo, kSm},
    {"CableInfo", kCableInfo, kSm},
    {"PortInfoExtended", kPortInfoExtended, kSm},
    {"GeneralInfo", kMellanoxGeneralInfo, kSm},
    {"ExtendedPortInfo", kMellanoxExtendedPortInfo, kSm},
    {"PortSamplesControl", kPortSamplesControl, kPm},
    {"PortSamplesResult", kPortSamplesResult, kPm},
    {"PortCounters", kPortCounters, kPm},
    {"PortRcvErrorDetails", kPortRcvErrorDetails, kPm},
    {"PortXmitDiscardDetails", kPortXmitDiscardDetails, kPm},
    {"PortOpRcvCounters", kPortOpRcvCounters, kPm},
    {"PortFlowCtlCounters", kPortFlowCtlCounters, kPm},
    {"PortVLOpPackets", kPortVlOpPackets, kPm},
    {"PortVLOpData", kPortVlOpData, kPm},
    {"PortVLXmitFlowCtlUpdateErrors", kPortVlXmitFlowCtlUpdateErrors, kPm},
    {"PortVLXmitWaitCounters", kPortVlXmitWaitCounters, kPm},
    {"PortCountersExtended", kPortCountersExtended, kPm},
    {"PortSamplesResultExtended", kPortSamplesResultExtended, kPm},
    {"PortExtendedSpeedsCounters", kPortExtendedSpeedsCounters, kPm},
    {"SwPortVLCongestion", kSwPortVlCongestion, kPm},
    {"PortRcvConCtrl", kPortRcvConCtrl, kPm},
    {"PortSLRcvFECN", kPortSlRcvFecn, kPm},
    {"PortSLRcvBECN", kPortSlRcvBecn, kPm},
    {"PortXmitConCtrl", kPortXmitConCtrl, kPm},
    {"PortVLXmitTimeCong", kPortVlXmitTimeCong, kPm},
    {"PortXmitDataSL", kPortXmitDataSl, kPm},
    {"PortRcvDataSL", kPortRcvDataSl, kPm},
    {"NodeRecord", kNodeRecord, kSa},
    {"PortInfoRecord", kPortInfoRecord, kSa},
    {"SLtoVLMappingTableRecord", kSlToVlMappingTableRecord, kSa},
    {"SwitchInfoRecord", kSwitchInfoRecord, kSa},
    {"LinearForwardingTableRecord", kLinearForwardingTableRecord, kSa},
    {"RandomForwardingTableRecord", kRandomForwardingTableRecord, kSa},
    {"MulticastForwardingTableRecord", kMulticastForwardingTableRecord, kSa},
    {"SMInfoRecord", kSmInfoRecord, kSa},
    {"LinkSpeedWidthPairsTableRecord", kLinkSpeedWidthPairsTableRecord, kSa},
    {"LinkRecord", kLinkRecord, kSa},
    {"GUIDInfoRecord", kGuidInfoRecord, kSa},
    {"ServiceRecord", kServiceRecord, kSa},
    {"P_KeyTableRecord", kPKeyTableRecord, kSa},
    {"PathRecord", kPathRecord, kSa},
    {"VLArbitrationTableRecord", kVlArbitrationTableRecord, kSa},
    {"MCMemberRecord", kMcMemberRecord, kSa},
    {"TraceRecord", kTraceRecord, kSa},
    {"MultiPathRecord", kMultiPathRecord, kSa},
    {"ServiceAssociationRecord", kServiceAssociationRecord, kSa},
    {"InformInfoRecord", kInformInfoRecord, kSa},
    {"MellanoxVendorInfo", kMellanoxVendorInfo, kVendor},
    {"MellanoxConfigSpace", kMellanoxConfigSpace, kVendor},
    {"MellanoxCounterGroupInfo", kMellanoxCounterGroupInfo, kVendor},
    {"MellanoxCounterGroups", kMellanoxCounterGroups, kVendor},
    {"CongestionInfo", kCongestionInfo, kCc},
    {"CongestionKeyInfo", kCongestionKeyInfo, kCc},
    {"CongestionLog", kCongestionLog, kCc},
    {"SwitchCongestionSetting", kSwitchCongestionSetting, kCc},
    {"SwitchPortCongestionSetting", kSwitchPortCongestionSetting, kCc},
    {"CACongestionSetting", kCaCongestionSetting, kCc},
    {"CongestionControlTable", kCongestionControlTable, kCc},
    {"Timestamp", kTimestamp, kCc},
    {"REQ", CmMessage(0x0010), kCm},
    {"MRA", CmMessage(0x0011), kCm},
    {"REJ", CmMessage(0x0012), kCm},
    {"REP", CmMessage(0x0013), kCm},
    {"RTU", CmMessage(0x0014), kCm},
    {"DREQ", CmMessage(0x0015), kCm},
    {"DREP", CmMessage(0x0016), kCm},
    {"SIDR_REQ", CmMessage(0x0017), kCm},
    {"SIDR_REP", CmMessage(0x0018), kCm},
    {"LAP", CmMessage(0x0019), kCm},
    {"APR", CmMessage(0x001a), kCm},
};

constexpr ClassName kClasses[] = {
    {"SM", MgmtClass::kSubnetLidRouted},
    {"SA", MgmtClass::kSubnetAdministration},
    {"PM", MgmtClass::kPerformance},
    {"BM", MgmtClass::kBaseboard},
    {"DM", MgmtClass::kDevice},
    {"CM", MgmtClass::kCommunication},
    {"SNMP", MgmtClass::kSnmp},
    {"CC", MgmtClass::kCongestionControl},
    {"ping", MgmtClass::kOpenIbPing},
    {"sysstat", MgmtClass::kOpenIbSysstat},
};

constexpr std::pair<Method, std::string_view> kMethods[] = {
    {Method::kGet, "Get"},
    {Method::kSet, "Set"},
    {Method::kSend, "Send"},
    {Method::kTrap, "Trap"},
    {Method::kReport, "Report"},
    {Method::kTrapRepress, "TrapRepress"},
    {Method::kGetTable, "GetTable"},
    {Method::kGetTraceTable, "GetTraceTable"},
    {Method::kGetMulti, "GetMulti"},
    {Method::kDelete, "Delete"},
    {Method::kGetResp, "GetResp"},
    {Method::kReportResp, "ReportResp"},
    {Method::kGetTableResp, "GetTableResp"},
    {Method::kGetMultiResp, "GetMultiResp"},
    {Method::kDeleteResp, "DeleteResp"},
};

constexpr std::pair<RmppStatus, std::string_view> kRmppStatuses[] = {
    {RmppStatus::kNormal, "Normal"},
    {RmppStatus::kResourcesExhausted, "Resources Exhausted"},
    {RmppStatus::kTotalTimeTooLong, "Total Time Too Long"},
    {RmppStatus::kInconsistentLast, "Inconsistent Last and PayloadLength"},
    {RmppStatus::kInconsistentFirst, "Inconsistent First and SegmentNumber"},
    {RmppStatus::kBadType, "Bad RMPPType"},
    {RmppStatus::kNewWindowTooSmall, "NewWindowLast Too Small"},
    {RmppStatus::kSegmentTooBig, "SegmentNumber Too Big"},
    {RmppStatus::kIllegalStatus, "Illegal Status"},
    {RmppStatus::kUnsupportedVersion, "Unsupported Version"},
    {RmppStatus::kTooManyRetries, "Too Many Retries"},
    {RmppStatus::kUnspecified, "Unspecified"},
};

}  // namespace

std::span<const AttributeName> AttributeNames() { return kAttributes; }

std::span<const ClassName> ClassNames() { return kClasses; }

std::string_view NameOf(MgmtClass mgmt_class, AttributeId id) {
  const MgmtClass named = NamedClass(mgmt_class);
  const auto found =
      std::ranges::find_if(kAttributes, [&](const AttributeName& attribute) {
        return attribute.id == id &&
               attribute.mgmt_class.value_or(named) == named;
      });
  return found == std::end(kAttributes) ? std::string_view() : found->name;
}

std::string_view NameOf(MgmtClass mgmt_class) {
  const auto found = std::ranges::find(kClasses, NamedClass(mgmt_class),
                                       &ClassName::mgmt_class);
  return found == std::end(kClasses) ? std::string_view() : found->name;
}

std::string_view NameOf(Method method) {
  const auto found = std::ranges::find(
      kMethods, method, &std::pair<Method, std::string_view>::first);
  return found == std::end(kMethods) ? std::string_view() : found->second;
}

std::string_view NameOf(RmppStatus status) {
  const auto found = std::ranges::find(
      kRmppStatuses, status, &std::pair<RmppStatus, std::string_view>::first);
  return found == std::end(kRmppStatuses) ? std::string_view() : found->second;
}

}  // namespace ibemu::mad
