// Memory that adapter and driver use at the same time.
#ifndef IBEMU_HCA_MLX4_CORE_QUEUE_ENTRY_H_
#define IBEMU_HCA_MLX4_CORE_QUEUE_ENTRY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace ibemu::hca::mlx4 {

// Both kinds have 32 bytes, and the owner's bit at the top of the last.
inline constexpr size_t kQueueEntry = 32;

// Entry `index`, which counts on and on, of a queue of 2 to the power of
// `log_entries`; empty while it is the adapter's.  What it says was written
// before its owner's bit changed.
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

// Copies words of 4 bytes, each at once: the adapter may read them at any time.
// `to` is aligned to 4 bytes.
inline void CopyWords(std::span<const std::byte> from, std::byte* to) {
  for (size_t at = 0; at < from.size(); at += sizeof(uint32_t)) {
    uint32_t word = 0;
    std::memcpy(&word, from.data() + at, sizeof word);
    *reinterpret_cast<volatile uint32_t*>(to + at) = word;
  }
}

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_QUEUE_ENTRY_H_
