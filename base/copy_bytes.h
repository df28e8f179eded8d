// CopyBytes: a copy of bytes as a block of memory.
#ifndef IBEMU_BASE_COPY_BYTES_H_
#define IBEMU_BASE_COPY_BYTES_H_

#include <algorithm>
#include <cstddef>
#include <span>

namespace ibemu {

// Copies `from` to `to`, which has as much room and lies elsewhere, and returns
// where it ends there.  libstdc++ 12 (Debian 12) makes of std::ranges::copy() a
// loop over bytes, four times as slow on packets.
inline std::byte* CopyBytes(std::span<const std::byte> from, std::byte* to) {
  return std::copy_n(from.data(), from.size(), to);
}

}  // namespace ibemu

#endif  // IBEMU_BASE_COPY_BYTES_H_
