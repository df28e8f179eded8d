// Access to the registers of a big-endian adapter on the little-endian PCI bus.
#ifndef IBEMU_HCA_BUS_BIG_ENDIAN_H_
#define IBEMU_HCA_BUS_BIG_ENDIAN_H_

#include <bit>
#include <cstddef>
#include <cstdint>

#include "hca/bus/pci_function.h"

namespace ibemu::hca {

// Reverses the bytes of a value.  A Bar's values are those of the little-endian
// bus whatever the processor is, so the value of a big-endian register must
// always be swapped.
constexpr uint32_t SwapBytes(uint32_t value) {
  return __builtin_bswap32(value);
}
constexpr uint64_t SwapBytes(uint64_t value) {
  return __builtin_bswap64(value);
}

inline uint32_t ReadBe32(Bar& bar, size_t offset) {
  return SwapBytes(bar.Read32(offset));
}
inline void WriteBe32(Bar& bar, size_t offset, uint32_t value) {
  bar.Write32(offset, SwapBytes(value));
}
inline void WriteBe64(Bar& bar, size_t offset, uint64_t value) {
  bar.Write64(offset, SwapBytes(value));
}

// Converts between the processor's byte order and that of the bus, which is
// little-endian.
constexpr uint32_t ToBus(uint32_t value) {
  return std::endian::native == std::endian::little ? value : SwapBytes(value);
}
constexpr uint64_t ToBus(uint64_t value) {
  return std::endian::native == std::endian::little ? value : SwapBytes(value);
}

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_BIG_ENDIAN_H_
