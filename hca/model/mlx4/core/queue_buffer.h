// QueueBuffer: the memory of a queue, which consists of host pages named by
// MTTs.
#ifndef IBEMU_HCA_MODEL_MLX4_CORE_QUEUE_BUFFER_H_
#define IBEMU_HCA_MODEL_MLX4_CORE_QUEUE_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "hca/model/mlx4/core/core.h"

namespace ibemu::hca::model::mlx4 {

// The largest page of a queue: log2 of its size in units of 4 KiB.
inline constexpr int kMaxLogQueuePage = 19;

// Returns the bus address of page `page` in a translation that starts
// `mtt_addr` bytes into the MTT table.  Returns nothing if the MTT is not in
// ICM, or not present.
std::optional<uint64_t> PageAddress(Core& core, uint64_t mtt_addr,
                                    uint64_t page);

// The memory of a queue.  Offsets are in bytes from the start of the queue.
class QueueBuffer {
 public:
  struct Place {
    uint64_t mtt_base_addr = 0;  // bytes from mtt_base, a multiple of 8
    int log_page_size = 12;      // log2 of the host's page size in bytes
    uint64_t page_offset = 0;    // of the queue's first byte in its first page
  };

  QueueBuffer(Core& core, const Place& place) : core_(core), place_(place) {}

  // Return false if part of the range is not mapped, by an MTT or on the bus.
  bool Read(uint64_t offset, std::span<std::byte> into);
  bool Write(uint64_t offset, std::span<const std::byte> from);

  // Fills `bytes`, a multiple of the size of `entry`, with copies of `entry`.
  bool Fill(uint64_t offset, uint64_t bytes, std::span<const std::byte> entry);

  // Returns true if the MTTs of the first `bytes` are in ICM and present.
  bool Translates(uint64_t bytes);

  void Move(const Place& place) { place_ = place; }

 private:
  template <class Span, class Copy>
  bool ForEachPage(uint64_t offset, Span bytes, Copy copy);

  Core& core_;
  Place place_;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_CORE_QUEUE_BUFFER_H_
