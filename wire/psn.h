// Packet sequence numbers of connections, which count modulo 2^24.
#ifndef IBEMU_WIRE_PSN_H_
#define IBEMU_WIRE_PSN_H_

#include <cstdint>

namespace ibemu::wire {

inline constexpr uint32_t kPsnMask = 0xffffff;

// Returns how far `a` is ahead of `b`, negative if it is behind (IBA vol 1
// §9.7.1).
constexpr int32_t PsnDistance(uint32_t a, uint32_t b) {
  return static_cast<int32_t>((a - b) << 8) >> 8;
}
constexpr uint32_t PsnAfter(uint32_t psn, uint32_t count) {
  return (psn + count) & kPsnMask;
}

// Returns the number of packets of a message.  A message without a payload
// takes one packet, too.
constexpr uint32_t PacketsFor(uint64_t length, uint64_t mtu) {
  return length == 0 ? 1 : static_cast<uint32_t>((length + mtu - 1) / mtu);
}

}  // namespace ibemu::wire

#endif  // IBEMU_WIRE_PSN_H_
