// Notice and the details of the traps: IBA vol 1 §13.4.8.2 and §14.2.5.1.
#ifndef IBEMU_MAD_WIRE_NOTICE_H_
#define IBEMU_MAD_WIRE_NOTICE_H_

#include <array>

#include "mad/wire/attribute_id.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/node_info.h"
#include "wire/layout.h"
#include "wire/types.h"

namespace ibemu::mad {

// The type of a notice, by its urgency.
enum class NoticeType : uint8_t {
  kFatal = 0,
  kUrgent = 1,
  kSecurity = 2,
  kSubnetManagement = 3,
  kInformational = 4,
  kEmpty = 0x7f,
};

// Generic traps, table 131.
enum class TrapNumber : uint16_t {
  kGidInService = 64,
  kGidOutOfService = 65,
  kMulticastGroupCreated = 66,
  kMulticastGroupDeleted = 67,
  kLinkStateChange = 128,
  kLocalLinkIntegrity = 129,
  kExcessiveBufferOverrun = 130,
  kFlowControlWatchdog = 131,
  kLocalChange = 144,
  kSystemImageGuidChange = 145,
  kBadMKey = 256,
  kBadPKey = 257,
  kBadQKey = 258,
  kBadPKeyAtSwitchPort = 259,
};

// A notice.  The component names are those of a generic one: if IsGeneric is 0,
// ProducerType is a vendor id and TrapNumber a device id.
struct Notice {
  static constexpr AttributeId kId = AttributeId::kNotice;
  static constexpr int kBits = 512;

  bool is_generic = true;
  NoticeType type = NoticeType::kEmpty;
  uint32_t producer_type = 0;  // a NodeType
  TrapNumber trap_number{};
  wire::Lid issuer_lid{};
  bool toggle = false;
  uint16_t count = 0;
  std::array<std::byte, 54> data_details{};

  bool operator==(const Notice&) const = default;

  static constexpr auto Layout() {
    using T = Notice;
    using wire::Ro, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::is_generic, "IsGeneric", 1, 0), Ro(&T::type, "Type", 7, 1),
        Ro(&T::producer_type, "ProducerType", 24, 8),
        Ro(&T::trap_number, "TrapNumber", 16, 32),
        Ro(&T::issuer_lid, "IssuerLID", 16, 48),
        Rw(&T::toggle, "NoticeToggle", 1, 64),
        Ro(&T::count, "NoticeCount", 15, 65),
        Ro(&T::data_details, "DataDetails", 432, 80));
  }
};
static_assert(wire::Tiles<Notice>());

// A notice as subnet administration reports it.
struct SaNotice {
  static constexpr int kBits = 640;

  Notice notice{};
  wire::Gid issuer_gid{};

  bool operator==(const SaNotice&) const = default;

  static constexpr auto Layout() {
    using T = SaNotice;
    using wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::notice, "Notice", 512, 0),
        Ro(&T::issuer_gid, "IssuerGID", 128, 512));
  }
};
static_assert(wire::Tiles<SaNotice>());

// The DataDetails of traps 64 to 67.
struct GidDetails {
  static constexpr int kBits = 432;

  wire::Gid gid{};

  bool operator==(const GidDetails&) const = default;

  static constexpr auto Layout() {
    using T = GidDetails;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(48, 0), Ro(&T::gid, "GIDADDR", 128, 48), Reserved(256, 176));
  }
};
static_assert(wire::Tiles<GidDetails>());

// The DataDetails of trap 128.
struct LinkStateDetails {
  static constexpr int kBits = 432;

  wire::Lid lid{};

  bool operator==(const LinkStateDetails&) const = default;

  static constexpr auto Layout() {
    using T = LinkStateDetails;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::lid, "LIDADDR", 16, 0), Reserved(416, 16));
  }
};
static_assert(wire::Tiles<LinkStateDetails>());

// The DataDetails of trap 144.
struct LocalChangeDetails {
  static constexpr int kBits = 432;

  wire::Lid lid{};
  bool other_local_changes = false;  // true: the change flags count
  uint32_t capability_mask = 0;
  bool capability_mask2_change = false;
  bool hierarchy_info_change = false;
  bool link_speed_enabled_change = false;
  bool link_width_enabled_change = false;
  bool node_description_change = false;
  uint16_t capability_mask2 = 0;

  bool operator==(const LocalChangeDetails&) const = default;

  static constexpr auto Layout() {
    using T = LocalChangeDetails;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(16, 0), Ro(&T::lid, "LIDADDR", 16, 16), Reserved(15, 32),
        Ro(&T::other_local_changes, "OtherLocalChanges", 1, 47),
        Ro(&T::capability_mask, "CAPABILITYMASK", 32, 48), Reserved(11, 80),
        Ro(&T::capability_mask2_change, "CapabilityMask2Change", 1, 91),
        Ro(&T::hierarchy_info_change, "HierarchyInfoChange", 1, 92),
        Ro(&T::link_speed_enabled_change, "LinkSpeedEnabledChange", 1, 93),
        Ro(&T::link_width_enabled_change, "LinkWidthEnabledChange", 1, 94),
        Ro(&T::node_description_change, "NodeDescriptionChange", 1, 95),
        Ro(&T::capability_mask2, "CAPABILITYMASK2", 16, 96),
        Reserved(320, 112));
  }
};
static_assert(wire::Tiles<LocalChangeDetails>());

// The DataDetails of trap 145.
struct SystemImageGuidDetails {
  static constexpr int kBits = 432;

  wire::Lid lid{};
  wire::Guid system_image_guid{};

  bool operator==(const SystemImageGuidDetails&) const = default;

  static constexpr auto Layout() {
    using T = SystemImageGuidDetails;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(16, 0), Ro(&T::lid, "LIDADDR", 16, 16), Reserved(16, 32),
        Ro(&T::system_image_guid, "SYSTEMIMAGEGUID", 64, 48),
        Reserved(320, 112));
  }
};
static_assert(wire::Tiles<SystemImageGuidDetails>());

// The DataDetails of trap 256.
struct BadMKeyDetails {
  static constexpr int kBits = 432;

  wire::Lid lid{};  // the offender's
  wire::Lid dr_slid{};
  Method method{};
  AttributeId attr_id{};
  uint32_t attr_mod = 0;
  uint64_t m_key = 0;
  bool dr_notice = false;
  bool dr_path_truncated = false;
  uint8_t dr_hop_count = 0;
  std::array<uint8_t, 30> dr_notice_return_path{};

  bool operator==(const BadMKeyDetails&) const = default;

  static constexpr auto Layout() {
    using T = BadMKeyDetails;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(16, 0), Ro(&T::lid, "LIDADDR", 16, 16),
        Ro(&T::dr_slid, "DRSLID", 16, 32), Ro(&T::method, "METHOD", 8, 48),
        Reserved(8, 56), Ro(&T::attr_id, "ATTRIBUTEID", 16, 64),
        Ro(&T::attr_mod, "ATTRIBUTEMODIFIER", 32, 80),
        Ro(&T::m_key, "MKEY", 64, 112), Reserved(8, 176),
        Ro(&T::dr_notice, "DRNotice", 1, 184),
        Ro(&T::dr_path_truncated, "DRPathTruncated", 1, 185),
        Ro(&T::dr_hop_count, "DRHopCount", 6, 186),
        Ro(&T::dr_notice_return_path, "DRNoticeReturnPath", 240, 192));
  }
};
static_assert(wire::Tiles<BadMKeyDetails>());

// The DataDetails of traps 257 and 258.
struct BadKeyDetails {
  static constexpr int kBits = 432;

  wire::Lid lid1{};
  wire::Lid lid2{};
  uint32_t key = 0;
  uint8_t sl = 0;
  uint32_t qp1 = 0;
  uint32_t qp2 = 0;
  wire::Gid gid1{};
  wire::Gid gid2{};

  bool operator==(const BadKeyDetails&) const = default;

  static constexpr auto Layout() {
    using T = BadKeyDetails;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(16, 0), Ro(&T::lid1, "LIDADDR1", 16, 16),
        Ro(&T::lid2, "LIDADDR2", 16, 32), Ro(&T::key, "KEY", 32, 48),
        Ro(&T::sl, "SL", 4, 80), Reserved(4, 84), Ro(&T::qp1, "QP1", 24, 88),
        Reserved(8, 112), Ro(&T::qp2, "QP2", 24, 120),
        Ro(&T::gid1, "GIDADDR1", 128, 144), Ro(&T::gid2, "GIDADDR2", 128, 272),
        Reserved(32, 400));
  }
};
static_assert(wire::Tiles<BadKeyDetails>());

// The DataDetails of trap 259.
struct BadPKeyAtSwitchDetails {
  static constexpr int kBits = 432;

  uint16_t data_valid = 0;  // see kDataValid...
  wire::Lid lid1{};
  wire::Lid lid2{};
  uint16_t p_key = 0;
  uint8_t sl = 0;
  uint32_t qp1 = 0;
  uint32_t qp2 = 0;
  wire::Gid gid1{};
  wire::Gid gid2{};
  wire::Lid switch_lid{};
  uint8_t port_num = 0;

  bool operator==(const BadPKeyAtSwitchDetails&) const = default;

  static constexpr auto Layout() {
    using T = BadPKeyAtSwitchDetails;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::data_valid, "DataValid", 16, 0),
        Ro(&T::lid1, "LIDADDR1", 16, 16), Ro(&T::lid2, "LIDADDR2", 16, 32),
        Ro(&T::p_key, "PKEY", 16, 48), Ro(&T::sl, "SL", 4, 64), Reserved(4, 68),
        Ro(&T::qp1, "QP1", 24, 72), Reserved(8, 96),
        Ro(&T::qp2, "QP2", 24, 104), Ro(&T::gid1, "GIDADDR1", 128, 128),
        Ro(&T::gid2, "GIDADDR2", 128, 256),
        Ro(&T::switch_lid, "SWLIDADDR", 16, 384),
        Ro(&T::port_num, "PORTNO", 8, 400), Reserved(24, 408));
  }
};
static_assert(wire::Tiles<BadPKeyAtSwitchDetails>());

// Bits of BadPKeyAtSwitchDetails::data_valid: the components that were in the
// packet.
inline constexpr uint16_t kDataValidLid1 = 1 << 0;
inline constexpr uint16_t kDataValidLid2 = 1 << 1;
inline constexpr uint16_t kDataValidPKey = 1 << 2;
inline constexpr uint16_t kDataValidSl = 1 << 3;
inline constexpr uint16_t kDataValidQp1 = 1 << 4;
inline constexpr uint16_t kDataValidQp2 = 1 << 5;
inline constexpr uint16_t kDataValidGid1 = 1 << 6;
inline constexpr uint16_t kDataValidGid2 = 1 << 7;

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_NOTICE_H_
