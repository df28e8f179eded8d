// The memory of a queue: pages of the host, which MTTs name.
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

// The bus address of page `page` of a translation that starts `mtt_addr` bytes
// into the MTT table; none if the MTT is not in ICM, or not present.
std::optional<uint64_t> PageAddress(Core& core, uint64_t mtt_addr,
                                    uint64_t page);

// `bytes` from `offset` on are the queue's.
class QueueBuffer {
 public:
  struct Place {
    uint64_t mtt_base_addr = 0;  // bytes from mtt_base, a multiple of 8
    int log_page_size = 12;      // of the host's pages, in bytes
    uint64_t page_offset = 0;    // of the queue's first byte in its first page
  };

  QueueBuffer(Core& core, const Place& place) : core_(core), place_(place) {}

  // False: some of it is not mapped, by an MTT or on the bus.
  bool Read(uint64_t offset, std::span<std::byte> into);
  bool Write(uint64_t offset, std::span<const std::byte> from);

  // Writes `entry` again and again, `bytes` in all, a multiple of its size.
  bool Fill(uint64_t offset, uint64_t bytes, std::span<const std::byte> entry);

  // Whether the MTTs of the first `bytes` are in ICM and present.
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
