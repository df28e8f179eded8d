// Icm: the adapter's own memory (ICM), which the host lends to it page by page.
#ifndef IBEMU_HCA_MODEL_MLX4_CORE_ICM_H_
#define IBEMU_HCA_MODEL_MLX4_CORE_ICM_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "hca/model/mlx4/core/host_memory.h"
#include "hca/prm/mlx4_commands.h"
#include "hca/prm/mlx4_memory.h"

namespace ibemu::hca::model::mlx4 {

// The map from ICM addresses to bus addresses, in chunks as software gave them.
class Icm {
 public:
  explicit Icm(HostMemory& host) : host_(host) {}

  // SET_ICM_SIZE.  Returns the number of auxiliary pages that firmware needs
  // for that size.
  uint64_t SetSize(uint64_t bytes);
  uint64_t bytes() const { return size_; }
  uint64_t auxiliary_pages() const { return auxiliary_pages_; }

  // MAP_ICM, for one chunk.  Returns ICM_ERROR if part of it is already mapped
  // or if it begins beyond the size, and BAD_PARAM if the bus address is not a
  // multiple of the chunk's size.
  prm::CommandStatus Map(const prm::VirtualPhysicalMapping& chunk);

  // UNMAP_ICM.  Unmapped pages in the range are allowed: the Linux driver
  // always unmaps 256 KiB, even for the last chunk of a table.
  void Unmap(uint64_t address, uint64_t pages);

  bool Contains(uint64_t address, uint64_t bytes) const;
  bool empty() const { return chunks_.empty(); }
  uint64_t mapped_pages() const;

  // Copy by ICM address.  Return false if part of the range is not mapped, or
  // if the host's memory is not.
  bool Read(uint64_t address, std::span<std::byte> into);
  bool Write(uint64_t address, std::span<const std::byte> from);

  // Unmaps everything, and sets the size to 0.
  void Reset();

 private:
  struct Chunk {
    uint64_t physical_page = 0;
    uint64_t pages = 0;
  };

  // The rest of a chunk, from an address in it.
  struct Sge {
    uint64_t address = 0;  // on the bus
    uint64_t bytes = 0;    // to the end of its chunk
  };
  std::optional<Sge> Find(uint64_t address) const;

  template <class Span, class Copy>
  bool ForEachPiece(uint64_t address, Span bytes, Copy copy) const;

  HostMemory& host_;
  std::map<uint64_t, Chunk> chunks_;  // by their first page
  uint64_t size_ = 0;
  uint64_t auxiliary_pages_ = 0;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_CORE_ICM_H_
