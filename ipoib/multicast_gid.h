// The MGIDs of IP multicast: RFC 4391 §4.
#ifndef IBEMU_IPOIB_MULTICAST_GID_H_
#define IBEMU_IPOIB_MULTICAST_GID_H_

#include <cstdint>

#include "wire/ip_address.h"
#include "wire/types.h"

namespace ibemu::ipoib {

// The last byte of an MGID's signature, which says whose group it is: that of
// the IP stacks, or that of rdma_cm's port space UDP, whose datagrams are no IP
// packets.
enum class GroupOwner : uint8_t {
  kIpoib = 0x1b,
  kRdmaCm = 0x01,
};

// Returns the MGID of the broadcast group of a partition, in the link-local
// scope: ff12:401b:PKEY::ffff:ffff.
constexpr wire::Gid BroadcastGid(uint16_t pkey) {
  constexpr uint64_t kFullMember = 0x8000;
  return {.prefix = 0xff12'401b'0000'0000 | (pkey | kFullMember) << 16,
          .interface_id = 0xffff'ffff};
}

// Returns the MGID of an IP multicast group, with the scope and the partition
// of the broadcast group's: 224.1.1.1 is ff12:401b:ffff::1:101.
// REQUIRES: group.IsMulticast()
constexpr wire::Gid GroupGid(const wire::IpAddress& group,
                             const wire::Gid& broadcast,
                             GroupOwner owner = GroupOwner::kIpoib) {
  constexpr uint64_t kScopeAndPKey = 0x000f'0000'ffff'0000;
  const uint64_t prefix = 0xff10'0000'0000'0000 |
                          (broadcast.prefix & kScopeAndPKey) |
                          uint64_t{static_cast<uint8_t>(owner)} << 32;
  if (group.is_ipv4()) {
    return {.prefix = prefix | 0x4000'0000'0000,
            .interface_id = group.ipv4() & 0x0fff'ffffu};
  }
  // The last 80 bits of the address are the last 80 of the MGID.
  wire::Gid gid{.prefix = prefix | 0x6000'0000'0000 |
                          uint64_t{group.bytes[6]} << 8 | group.bytes[7],
                .interface_id = 0};
  for (size_t i = 8; i < group.bytes.size(); ++i) {
    gid.interface_id = gid.interface_id << 8 | group.bytes[i];
  }
  return gid;
}

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_MULTICAST_GID_H_
