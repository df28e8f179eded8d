// Memory that the adapter and the driver use at the same time.
#ifndef IBEMU_HCA_MLX4_CORE_QUEUE_ENTRY_H_
#define IBEMU_HCA_MLX4_CORE_QUEUE_ENTRY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace ibemu::hca::mlx4 {

// The size in bytes of an entry of a completion or event queue.  The owner bit
// is the highest of the last byte.
inline constexpr size_t kQueueEntry = 32;

// Returns entry `index`, a running count, of a queue of 2^`log_entries`
// entries; empty while the adapter owns it.  The adapter writes an entry's
// contents before it changes the owner bit.
inline std::span<const std::byte> FindEntry(std::span<const std::byte> queue,
                                            int log_entries, uint32_t index) {
  const size_t place = index & ((1u << log_entries) - 1);
  const auto entry = queue.subspan(place * kQueueEntry, kQueueEntry);
  const volatile std::byte& last = entry.back();
  const bool owner = (std::byte{last} & std::byte{0x80}) != std::byte{0};
  if (owner != ((index >> log_entries & 1) != 0)) return {};
  std::atomic_thread_fence(std::memory_order_acquire);
  return entry;
}

// Copies words of 4 bytes, each with one write, because the adapter may read
// them at any time.  `to` is aligned to 4 bytes.
inline void CopyWords(std::span<const std::byte> from, std::byte* to) {
  for (size_t at = 0; at < from.size(); at += sizeof(uint32_t)) {
    uint32_t word = 0;
    std::memcpy(&word, from.data() + at, sizeof word);
    *reinterpret_cast<volatile uint32_t*>(to + at) = word;
  }
}

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_QUEUE_ENTRY_H_
