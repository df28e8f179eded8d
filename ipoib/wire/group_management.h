// Reports of multicast groups: IGMP (RFC 3376 §4.2) and MLD (RFC 3810 §5.2),
// which are alike but for the length of their addresses.
#ifndef IBEMU_IPOIB_WIRE_GROUP_MANAGEMENT_H_
#define IBEMU_IPOIB_WIRE_GROUP_MANAGEMENT_H_

#include <cstdint>

#include "ipoib/wire/ip_headers.h"
#include "wire/layout.h"

namespace ibemu::ipoib {

// The types of IGMP messages by which hosts say which groups they want.  A
// router's queries are not among them.
enum class IgmpType : uint8_t {
  kReportV1 = 0x12,
  kReportV2 = 0x16,
  kLeaveV2 = 0x17,
  kReportV3 = 0x22,
};

// The same of MLD: types of ICMPv6 messages.
enum class MldType : uint8_t {
  kReportV1 = 131,
  kDoneV1 = 132,
  kReportV2 = 143,
};

// The type of a record in a report: what it says of its group.
enum class GroupRecordType : uint8_t {
  kModeIsInclude = 1,
  kModeIsExclude = 2,
  kChangeToInclude = 3,
  kChangeToExclude = 4,
  kAllowNewSources = 5,
  kBlockOldSources = 6,
};

// An older message of IGMP (RFC 2236): a report, or the end of a membership.
struct IgmpMessage {
  static constexpr int kBits = 64;

  IcmpHeader header;
  uint32_t group = 0;

  static constexpr auto Layout() {
    using T = IgmpMessage;
    using wire::Rw;
    return wire::Table(Rw(&T::header, "Header", 32, 0),
                       Rw(&T::group, "GroupAddress", 32, 32));
  }
};
static_assert(wire::Tiles<IgmpMessage>());

// A message of MLD's first version (RFC 2710): a report, or the end of a
// membership.
struct MldMessage {
  static constexpr int kBits = 192;

  IcmpHeader header;
  Ipv6Bytes group{};

  static constexpr auto Layout() {
    using T = MldMessage;
    using wire::Reserved, wire::Rw;
    return wire::Table(Rw(&T::header, "Header", 32, 0), Reserved(32, 32),
                       Rw(&T::group, "MulticastAddress", 128, 64));
  }
};
static_assert(wire::Tiles<MldMessage>());

// The start of a report that has records.
struct GroupReportHeader {
  static constexpr int kBits = 64;

  IcmpHeader header;
  uint16_t records = 0;

  static constexpr auto Layout() {
    using T = GroupReportHeader;
    using wire::Reserved, wire::Rw;
    return wire::Table(Rw(&T::header, "Header", 32, 0), Reserved(16, 32),
                       Rw(&T::records, "NumberOfRecords", 16, 48));
  }
};
static_assert(wire::Tiles<GroupReportHeader>());

// The start of a record: the group's address follows, and then the sources.
struct GroupRecordHeader {
  static constexpr int kBits = 32;

  GroupRecordType type{};
  uint8_t auxiliary_words = 0;  // at its end
  uint16_t sources = 0;

  static constexpr auto Layout() {
    using T = GroupRecordHeader;
    using wire::Rw;
    return wire::Table(Rw(&T::type, "RecordType", 8, 0),
                       Rw(&T::auxiliary_words, "AuxDataLen", 8, 8),
                       Rw(&T::sources, "NumberOfSources", 16, 16));
  }
};
static_assert(wire::Tiles<GroupRecordHeader>());

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_WIRE_GROUP_MANAGEMENT_H_
