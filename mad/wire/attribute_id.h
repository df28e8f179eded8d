// Attribute numbers of the management classes.
#ifndef IBEMU_MAD_WIRE_ATTRIBUTE_ID_H_
#define IBEMU_MAD_WIRE_ATTRIBUTE_ID_H_

#include <cstdint>

namespace ibemu::mad {

// The attributes of all classes.  Numbers repeat between classes; a name tells
// its class only where two classes share the name.
enum class AttributeId : uint16_t {
  // All classes, IBA vol 1 §13.4.8.
  kClassPortInfo = 0x0001,
  kNotice = 0x0002,
  kInformInfo = 0x0003,

  // Subnet management, §14.2.5.
  kNodeDescription = 0x0010,
  kNodeInfo = 0x0011,
  kSwitchInfo = 0x0012,
  kGuidInfo = 0x0014,
  kPortInfo = 0x0015,
  kPKeyTable = 0x0016,
  kSlToVlMappingTable = 0x0017,
  kVlArbitrationTable = 0x0018,
  kLinearForwardingTable = 0x0019,
  kRandomForwardingTable = 0x001a,
  kMulticastForwardingTable = 0x001b,
  kLinkSpeedWidthPairsTable = 0x001c,
  kVendorSpecificMadsTable = 0x001d,
  kHierarchyInfo = 0x001e,
  kSmInfo = 0x0020,
  kVendorDiag = 0x0030,
  kLedInfo = 0x0031,
  kCableInfo = 0x0032,
  kPortInfoExtended = 0x0033,
  kMellanoxGeneralInfo = 0xff17,
  kMellanoxExtendedPortInfo = 0xff90,

  // Performance management, §16.1.3 and §16.1.4.
  kPortSamplesControl = 0x0010,
  kPortSamplesResult = 0x0011,
  kPortCounters = 0x0012,
  kPortRcvErrorDetails = 0x0015,
  kPortXmitDiscardDetails = 0x0016,
  kPortOpRcvCounters = 0x0017,
  kPortFlowCtlCounters = 0x0018,
  kPortVlOpPackets = 0x0019,
  kPortVlOpData = 0x001a,
  kPortVlXmitFlowCtlUpdateErrors = 0x001b,
  kPortVlXmitWaitCounters = 0x001c,
  kPortCountersExtended = 0x001d,
  kPortSamplesResultExtended = 0x001e,
  kPortExtendedSpeedsCounters = 0x001f,
  kSwPortVlCongestion = 0x0030,
  kPortRcvConCtrl = 0x0031,
  kPortSlRcvFecn = 0x0032,
  kPortSlRcvBecn = 0x0033,
  kPortXmitConCtrl = 0x0034,
  kPortVlXmitTimeCong = 0x0035,
  kPortXmitDataSl = 0x0036,
  kPortRcvDataSl = 0x0037,

  // Subnet administration, §15.2.5.
  kNodeRecord = 0x0011,
  kPortInfoRecord = 0x0012,
  kSlToVlMappingTableRecord = 0x0013,
  kSwitchInfoRecord = 0x0014,
  kLinearForwardingTableRecord = 0x0015,
  kRandomForwardingTableRecord = 0x0016,
  kMulticastForwardingTableRecord = 0x0017,
  kSmInfoRecord = 0x0018,
  kLinkSpeedWidthPairsTableRecord = 0x0019,
  kLinkRecord = 0x0020,
  kGuidInfoRecord = 0x0030,
  kServiceRecord = 0x0031,
  kPKeyTableRecord = 0x0033,
  kPathRecord = 0x0035,
  kVlArbitrationTableRecord = 0x0036,
  kMcMemberRecord = 0x0038,
  kTraceRecord = 0x0039,
  kMultiPathRecord = 0x003a,
  kServiceAssociationRecord = 0x003b,
  kInformInfoRecord = 0x00f3,

  // Mellanox's vendor class, 0x0a.
  kMellanoxVendorInfo = 0x0017,
  kMellanoxConfigSpace = 0x0050,
  kMellanoxCounterGroupInfo = 0x0090,
  kMellanoxCounterGroups = 0x0091,

  // Congestion control, annex A10.
  kCongestionInfo = 0x0011,
  kCongestionKeyInfo = 0x0012,
  kCongestionLog = 0x0013,
  kSwitchCongestionSetting = 0x0014,
  kSwitchPortCongestionSetting = 0x0015,
  kCaCongestionSetting = 0x0016,
  kCongestionControlTable = 0x0017,
  kTimestamp = 0x0018,
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_ATTRIBUTE_ID_H_
