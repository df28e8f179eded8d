// Attributes of Mellanox devices, as OpenSM and vendstat know them.
#ifndef IBEMU_MAD_WIRE_MELLANOX_H_
#define IBEMU_MAD_WIRE_MELLANOX_H_

#include <array>

#include "mad/wire/attribute_id.h"
#include "wire/layout.h"

namespace ibemu::mad {

// The bit of FDR10 in the link speeds of MellanoxExtendedPortInfo.
inline constexpr uint8_t kMellanoxFdr10 = 1;

// The link speeds of a port as far as Mellanox defines them: FDR10, that is 10
// Gb/s with 64b/66b coding, which PortInfo shows as QDR.
struct MellanoxExtendedPortInfo {
  static constexpr AttributeId kId = AttributeId::kMellanoxExtendedPortInfo;
  static constexpr int kBits = 512;

  uint8_t state_change_enable = 0;  // a Set changes speeds only if not 0
  uint8_t link_speed_supported = 0;
  uint8_t link_speed_enabled = 0;
  uint8_t link_speed_active = 0;

  bool operator==(const MellanoxExtendedPortInfo&) const = default;

  static constexpr auto Layout() {
    using T = MellanoxExtendedPortInfo;
    using wire::Reserved, wire::Ro, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(24, 0),
        Rw(&T::state_change_enable, "StateChangeEnable", 8, 24),
        Reserved(24, 32),
        Ro(&T::link_speed_supported, "LinkSpeedSupported", 8, 56),
        Reserved(24, 64), Rw(&T::link_speed_enabled, "LinkSpeedEnabled", 8, 88),
        Reserved(24, 96), Ro(&T::link_speed_active, "LinkSpeedActive", 8, 120),
        Reserved(384, 128));
  }
};
static_assert(wire::Tiles<MellanoxExtendedPortInfo>());

// The 64 bytes of GeneralInfo that fit into an SMP.
struct MellanoxGeneralInfo {
  static constexpr AttributeId kId = AttributeId::kMellanoxGeneralInfo;
  static constexpr int kBits = 512;

  uint16_t hardware_revision = 0;
  uint16_t device_id = 0;
  uint32_t uptime = 0;  // seconds
  uint8_t firmware_major = 0;
  uint8_t firmware_minor = 0;
  uint8_t firmware_sub_minor = 0;
  uint32_t firmware_build_id = 0;
  uint8_t firmware_month = 0;  // BCD, as day, year and hour
  uint8_t firmware_day = 0;
  uint16_t firmware_year = 0;
  uint16_t firmware_hour = 0;
  std::array<char, 16> psid{};

  bool operator==(const MellanoxGeneralInfo&) const = default;

  static constexpr auto Layout() {
    using T = MellanoxGeneralInfo;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::hardware_revision, "HwRevision", 16, 0),
        Ro(&T::device_id, "DeviceID", 16, 16), Reserved(192, 32),
        Ro(&T::uptime, "UpTime", 32, 224), Reserved(8, 256),
        Ro(&T::firmware_major, "FwMajor", 8, 264),
        Ro(&T::firmware_minor, "FwMinor", 8, 272),
        Ro(&T::firmware_sub_minor, "FwSubMinor", 8, 280),
        Ro(&T::firmware_build_id, "FwBuildID", 32, 288),
        Ro(&T::firmware_month, "FwMonth", 8, 320),
        Ro(&T::firmware_day, "FwDay", 8, 328),
        Ro(&T::firmware_year, "FwYear", 16, 336), Reserved(16, 352),
        Ro(&T::firmware_hour, "FwHour", 16, 368),
        Ro(&T::psid, "PSID", 128, 384));
  }
};
static_assert(wire::Tiles<MellanoxGeneralInfo>());

// The offset of the attributes of class MgmtClass::kMellanox in a MAD.
inline constexpr size_t kMellanoxDataOffset = 24;

// The whole GeneralInfo, an attribute of MgmtClass::kMellanox.
struct MellanoxVendorInfo {
  static constexpr AttributeId kId = AttributeId::kMellanoxVendorInfo;
  static constexpr int kBits = 1088;

  uint64_t vendor_key = 0;
  MellanoxGeneralInfo info{};
  uint32_t ini_file_version = 0;
  uint32_t firmware_major = 0;
  uint32_t firmware_minor = 0;
  uint32_t firmware_sub_minor = 0;
  uint8_t software_major = 0;
  uint8_t software_minor = 0;
  uint8_t software_sub_minor = 0;

  bool operator==(const MellanoxVendorInfo&) const = default;

  static constexpr auto Layout() {
    using T = MellanoxVendorInfo;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::vendor_key, "VendorKey", 64, 0),
        Ro(&T::info, "GeneralInfo", 512, 64),
        Ro(&T::ini_file_version, "IniFileVersion", 32, 576),
        Ro(&T::firmware_major, "ExtFwMajor", 32, 608),
        Ro(&T::firmware_minor, "ExtFwMinor", 32, 640),
        Ro(&T::firmware_sub_minor, "ExtFwSubMinor", 32, 672),
        Reserved(136, 704), Ro(&T::software_major, "SwMajor", 8, 840),
        Ro(&T::software_minor, "SwMinor", 8, 848),
        Ro(&T::software_sub_minor, "SwSubMinor", 8, 856), Reserved(224, 864));
  }
};
static_assert(wire::Tiles<MellanoxVendorInfo>());

// A register of the device.  `mask` has the bits of `data` that count.
struct MellanoxConfigRecord {
  static constexpr int kBits = 96;

  uint32_t address = 0;
  uint32_t data = 0;
  uint32_t mask = 0;

  bool operator==(const MellanoxConfigRecord&) const = default;

  static constexpr auto Layout() {
    using T = MellanoxConfigRecord;
    using wire::Rw;
    return wire::Table(Rw(&T::address, "Address", 32, 0),
                       Rw(&T::data, "Data", 32, 32),
                       Rw(&T::mask, "Mask", 32, 64));
  }
};
static_assert(wire::Tiles<MellanoxConfigRecord>());

// Registers of the device.  The attribute modifier gives the number of records.
struct MellanoxConfigSpace {
  static constexpr AttributeId kId = AttributeId::kMellanoxConfigSpace;
  static constexpr int kBits = 1792;

  uint64_t vendor_key = 0;
  std::array<MellanoxConfigRecord, 18> records{};

  bool operator==(const MellanoxConfigSpace&) const = default;

  static constexpr auto Layout() {
    using T = MellanoxConfigSpace;
    using wire::Rw;
    return wire::Table(Rw(&T::vendor_key, "VendorKey", 64, 0),
                       Rw(&T::records, "Record", 1728, 64));
  }
};
static_assert(wire::Tiles<MellanoxConfigSpace>());

// The groups of optional counters that a switch port can count.  The attribute
// modifier is the port.
struct MellanoxCounterGroupInfo {
  static constexpr AttributeId kId = AttributeId::kMellanoxCounterGroupInfo;
  static constexpr int kBits = 160;

  uint64_t vendor_key = 0;
  uint8_t group_count = 0;
  std::array<uint32_t, 2> group_masks{};

  bool operator==(const MellanoxCounterGroupInfo&) const = default;

  static constexpr auto Layout() {
    using T = MellanoxCounterGroupInfo;
    using wire::Reserved, wire::Ro;
    return wire::Table(Ro(&T::vendor_key, "VendorKey", 64, 0), Reserved(24, 64),
                       Ro(&T::group_count, "NumOfCounterGroups", 8, 88),
                       Ro(&T::group_masks, "GroupMask", 64, 96));
  }
};
static_assert(wire::Tiles<MellanoxCounterGroupInfo>());

// The groups of optional counters that a switch port counts.
struct MellanoxCounterGroups {
  static constexpr AttributeId kId = AttributeId::kMellanoxCounterGroups;
  static constexpr int kBits = 160;

  uint64_t vendor_key = 0;
  std::array<uint32_t, 2> group_selects{};

  bool operator==(const MellanoxCounterGroups&) const = default;

  static constexpr auto Layout() {
    using T = MellanoxCounterGroups;
    using wire::Reserved, wire::Rw;
    return wire::Table(Rw(&T::vendor_key, "VendorKey", 64, 0), Reserved(32, 64),
                       Rw(&T::group_selects, "GroupSelect", 64, 96));
  }
};
static_assert(wire::Tiles<MellanoxCounterGroups>());

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_MELLANOX_H_
