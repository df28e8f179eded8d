// The codes of PortInfo's components: IBA vol 1 §14.2.5.6, table 146.
#ifndef IBEMU_MAD_WIRE_PORT_CODES_H_
#define IBEMU_MAD_WIRE_PORT_CODES_H_

#include <cstdint>

namespace ibemu::mad {

// The logical state of a port: which packets may pass it.
enum class PortState : uint8_t {
  kNoChange = 0,  // in a Set
  kDown = 1,
  kInit = 2,
  kArmed = 3,
  kActive = 4,
};

// The state of a port's physical link.
enum class PortPhysicalState : uint8_t {
  kNoChange = 0,  // in a Set
  kSleep = 1,
  kPolling = 2,
  kDisabled = 3,
  kTraining = 4,  // PortConfigurationTraining
  kLinkUp = 5,
  kErrorRecovery = 6,
  kPhyTest = 7,
};

// The bits of LinkWidthSupported, Enabled and Active, which has only one bit
// set.  In Enabled, 0 means "no change" and 255 "all supported".
namespace link_width {
inline constexpr uint8_t k1x = 1;
inline constexpr uint8_t k4x = 2;
inline constexpr uint8_t k8x = 4;
inline constexpr uint8_t k12x = 8;
inline constexpr uint8_t k2x = 16;
inline constexpr uint8_t kAllSupported = 255;  // Enabled
}  // namespace link_width

namespace link_speed {
inline constexpr uint8_t kSdr = 1;
inline constexpr uint8_t kDdr = 2;
inline constexpr uint8_t kQdr = 4;
inline constexpr uint8_t kAllSupported = 15;  // Enabled
}  // namespace link_speed

namespace link_speed_ext {
inline constexpr uint8_t kFdr = 1;
inline constexpr uint8_t kEdr = 2;
inline constexpr uint8_t kHdr = 4;
inline constexpr uint8_t kNdr = 8;
inline constexpr uint8_t kDisabled = 30;      // Enabled
inline constexpr uint8_t kAllSupported = 31;  // Enabled
}  // namespace link_speed_ext

namespace link_speed_ext2 {
inline constexpr uint8_t kXdr = 1;
inline constexpr uint8_t kDisabled = 6;      // Enabled
inline constexpr uint8_t kAllSupported = 7;  // Enabled
}  // namespace link_speed_ext2

// The bits of CapabilityMask.
namespace capability {
inline constexpr uint32_t kIsSm = 1u << 1;
inline constexpr uint32_t kNotice = 1u << 2;
inline constexpr uint32_t kTrap = 1u << 3;
inline constexpr uint32_t kOptionalIpd = 1u << 4;
inline constexpr uint32_t kAutomaticMigration = 1u << 5;
inline constexpr uint32_t kSlMapping = 1u << 6;
inline constexpr uint32_t kMKeyNvram = 1u << 7;
inline constexpr uint32_t kPKeyNvram = 1u << 8;
inline constexpr uint32_t kLedInfo = 1u << 9;
inline constexpr uint32_t kSmDisabled = 1u << 10;
inline constexpr uint32_t kSystemImageGuid = 1u << 11;
inline constexpr uint32_t kPKeySwitchExternalPortTrap = 1u << 12;
inline constexpr uint32_t kCableInfo = 1u << 13;
inline constexpr uint32_t kExtendedSpeeds = 1u << 14;
inline constexpr uint32_t kCapabilityMask2 = 1u << 15;
inline constexpr uint32_t kCommunicationManagement = 1u << 16;
inline constexpr uint32_t kSnmpTunneling = 1u << 17;
inline constexpr uint32_t kReinit = 1u << 18;
inline constexpr uint32_t kDeviceManagement = 1u << 19;
inline constexpr uint32_t kVendorClass = 1u << 20;
inline constexpr uint32_t kDrNotice = 1u << 21;
inline constexpr uint32_t kCapabilityMaskNotice = 1u << 22;
inline constexpr uint32_t kBootManagement = 1u << 23;
inline constexpr uint32_t kLinkRoundTripLatency = 1u << 24;
inline constexpr uint32_t kClientReregistration = 1u << 25;
inline constexpr uint32_t kOtherLocalChangesNotice = 1u << 26;
inline constexpr uint32_t kLinkSpeedWidthPairsTable = 1u << 27;
inline constexpr uint32_t kVendorSpecificMadsTable = 1u << 28;
inline constexpr uint32_t kMulticastPKeyTrapSuppression = 1u << 29;
inline constexpr uint32_t kMulticastFdbTop = 1u << 30;
inline constexpr uint32_t kHierarchyInfo = 1u << 31;
}  // namespace capability

// The bits of CapabilityMask2.
namespace capability2 {
inline constexpr uint16_t kSetNodeDescription = 1 << 0;
inline constexpr uint16_t kPortInfoExtended = 1 << 1;
inline constexpr uint16_t kVirtualization = 1 << 2;
inline constexpr uint16_t kSwitchPortStateTable = 1 << 3;
inline constexpr uint16_t kLinkWidth2x = 1 << 4;
inline constexpr uint16_t kLinkSpeedHdr = 1 << 5;
inline constexpr uint16_t kLinkSpeedNdr = 1 << 10;
inline constexpr uint16_t kExtendedSpeeds2 = 1 << 11;
inline constexpr uint16_t kLinkSpeedXdr = 1 << 12;
}  // namespace capability2

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_PORT_CODES_H_
