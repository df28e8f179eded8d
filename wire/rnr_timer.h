// The timer of RNR NAKs: how long a requester waits for a receiver that is not
// ready.
#ifndef IBEMU_WIRE_RNR_TIMER_H_
#define IBEMU_WIRE_RNR_TIMER_H_

#include <array>
#include <cstdint>

namespace ibemu::wire {

// The delays of the 5-bit codes, in units of 10 microseconds (IBA vol 1
// §9.7.5.2.8, table 45).
inline constexpr std::array<uint32_t, 32> kRnrTimers = {
    65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
    48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
    2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

// Returns the delay of `code`, in microseconds.  The upper bits of the byte do
// not count.
constexpr int64_t RnrMicroseconds(uint8_t code) {
  return int64_t{10} * kRnrTimers[code % kRnrTimers.size()];
}

}  // namespace ibemu::wire

#endif  // IBEMU_WIRE_RNR_TIMER_H_
