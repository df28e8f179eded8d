// The rates of paths and multicast groups: IBA vol 1 §15.2.5.16.
#ifndef IBEMU_FABRIC_ROUTING_PATH_RATE_H_
#define IBEMU_FABRIC_ROUTING_PATH_RATE_H_

#include <cstdint>

#include "mad/wire/port_info.h"

namespace ibemu::fabric {

// A rate's code says nothing about its order: 10 is 120 Gb/s, 11 is 14.
bool IsPathRate(uint8_t code);
// Negative, zero or positive as `a` is slower than, as fast as or faster than
// `b`.  A code that does not exist is slower than all.
int ComparePathRates(uint8_t a, uint8_t b);
// The next slower or faster rate; 0: there is none.
uint8_t SlowerPathRate(uint8_t code);
uint8_t FasterPathRate(uint8_t code);

// What a link carries whose end has this PortInfo, in units of 100 Mb/s, and
// the fastest rate that this is enough for.
int LinkBandwidth(const mad::PortInfo& info);
uint8_t PathRateWithin(int bandwidth);

// Of all paths and groups, as 4.096 us << 18: opensm's.
inline constexpr uint8_t kPacketLifeTime = 18;

// 256, 512, 1024, 2048 and 4096 bytes.
constexpr bool IsPathMtu(uint8_t code) { return code >= 1 && code <= 5; }

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_ROUTING_PATH_RATE_H_
