// The rates of paths and multicast groups, IBA vol 1 §15.2.5.16.
#ifndef IBEMU_FABRIC_ROUTING_PATH_RATE_H_
#define IBEMU_FABRIC_ROUTING_PATH_RATE_H_

#include <cstdint>

#include "mad/wire/port_info.h"

namespace ibemu::fabric {

// Returns true if `code` is a rate.  The codes are not in order: 10 is 120
// Gb/s, 11 is 14 Gb/s.
bool IsPathRate(uint8_t code);
// Returns a negative number, zero or a positive one if `a` is slower than, as
// fast as or faster than `b`.  An invalid code is slower than all others.
int ComparePathRates(uint8_t a, uint8_t b);
// Returns the next slower rate, or 0 if there is none.
uint8_t SlowerPathRate(uint8_t code);

// LinkBandwidth() returns the bandwidth of a link whose end has this PortInfo,
// in units of 100 Mb/s.  PathRateWithin() returns the fastest rate that does
// not exceed a bandwidth.
int LinkBandwidth(const mad::PortInfo& info);
uint8_t PathRateWithin(int bandwidth);

// The packet life time of all paths and groups, 4.096 us << 18, as in opensm.
inline constexpr uint8_t kPacketLifeTime = 18;

// Returns true for the codes of 256, 512, 1024, 2048 and 4096 bytes.
constexpr bool IsPathMtu(uint8_t code) { return code >= 1 && code <= 5; }

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_ROUTING_PATH_RATE_H_
