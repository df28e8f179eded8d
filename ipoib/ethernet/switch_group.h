// The multicast group that is a virtual switch of Ethernet.
#ifndef IBEMU_IPOIB_ETHERNET_SWITCH_GROUP_H_
#define IBEMU_IPOIB_ETHERNET_SWITCH_GROUP_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "mad/wire/sa_services.h"
#include "wire/types.h"

namespace ibemu::ipoib {

// The characters of a switch's name that its MGID has room for.
inline constexpr size_t kLongestSwitchName = 10;

// Returns the MGID of a switch, in the link-local scope, with the partition and
// the name in it: "blue" is ff12:4554:ffff:626c:7565::.
// REQUIRES: name.size() <= kLongestSwitchName
wire::Gid SwitchGid(std::string_view name, uint16_t pkey);

// Returns the record with which a port joins a switch, and makes it.  Whoever
// comes first says what it can do, so that is the same for all: the least of
// IPoIB, 2,048 bytes and 10 Gb/s.
// REQUIRES: name.size() <= kLongestSwitchName
mad::McMemberRecord SwitchGroup(std::string_view name, uint16_t pkey,
                                const wire::Gid& port);

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_ETHERNET_SWITCH_GROUP_H_
