// The records with which an interface joins multicast groups.
#ifndef IBEMU_IPOIB_GROUP_RECORD_H_
#define IBEMU_IPOIB_GROUP_RECORD_H_

#include <cstddef>
#include <cstdint>

#include "mad/wire/sa_component_mask.h"
#include "mad/wire/sa_services.h"
#include "wire/ip_address.h"
#include "wire/types.h"

namespace ibemu::ipoib {

// The components that a join names: of the broadcast group too few to make it,
// of another group enough.
inline constexpr uint64_t kBroadcastMask =
    mad::kComponentBit<&mad::McMemberRecord::mgid> |
    mad::kComponentBit<&mad::McMemberRecord::port_gid> |
    mad::kComponentBit<&mad::McMemberRecord::p_key> |
    mad::kComponentBit<&mad::McMemberRecord::join_state>;
static_assert(kBroadcastMask == 0x10083);
inline constexpr uint64_t kGroupMask =
    kBroadcastMask | mad::kComponentBit<&mad::McMemberRecord::q_key> |
    mad::kComponentBit<&mad::McMemberRecord::mtu_selector> |
    mad::kComponentBit<&mad::McMemberRecord::mtu> |
    mad::kComponentBit<&mad::McMemberRecord::traffic_class> |
    mad::kComponentBit<&mad::McMemberRecord::rate_selector> |
    mad::kComponentBit<&mad::McMemberRecord::rate> |
    mad::kComponentBit<&mad::McMemberRecord::sl> |
    mad::kComponentBit<&mad::McMemberRecord::flow_label> |
    mad::kComponentBit<&mad::McMemberRecord::hop_limit>;
static_assert(kGroupMask == 0x173f7);

// Returns the record to join the group of a multicast address with: like the
// `broadcast` group of its partition.
// REQUIRES: address.IsMulticast()
mad::McMemberRecord GroupLike(const mad::McMemberRecord& broadcast,
                              const wire::IpAddress& address,
                              const wire::Gid& port, uint8_t join_state);

// Returns true if the code of a group's MTU is one of IBA: 256 to 4,096 bytes.
inline bool HasMtu(const mad::McMemberRecord& group) {
  return group.mtu >= 1 && group.mtu <= 5;
}

// REQUIRES: HasMtu(group)
inline size_t BytesOfMtu(const mad::McMemberRecord& group) {
  return size_t{128} << group.mtu;
}

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_GROUP_RECORD_H_
