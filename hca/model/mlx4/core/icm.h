// ICM, the adapter's own memory, which the host lends it page by page.
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

// The map from its addresses to those of the bus, in chunks as software gave
// them.
class Icm {
 public:
  explicit Icm(HostMemory& host) : host_(host) {}

  // SET_ICM_SIZE.  The number of auxiliary pages that firmware wants for it.
  uint64_t SetSize(uint64_t bytes);
  uint64_t bytes() const { return size_; }
  uint64_t auxiliary_pages() const { return auxiliary_pages_; }

  // MAP_ICM, one chunk.  ICM_ERROR: some of it is mapped already, or it begins
  // beyond the size.  BAD_PARAM: the bus address is no multiple of the chunk's
  // size.
  prm::CommandStatus Map(const prm::VirtualPhysicalMapping& chunk);

  // UNMAP_ICM.  What of it is mapped goes; the rest does not matter, for the
  // Linux driver always unmaps 256 KiB, the last chunk of a table included.
  void Unmap(uint64_t address, uint64_t pages);

  bool Contains(uint64_t address, uint64_t bytes) const;
  bool empty() const { return chunks_.empty(); }
  uint64_t mapped_pages() const;

  // By its own addresses.  False: not mapped, or the host's memory is not.
  bool Read(uint64_t address, std::span<std::byte> into);
  bool Write(uint64_t address, std::span<const std::byte> from);

  // Everything is unmapped, and it has no size.
  void Reset();

 private:
  struct Chunk {
    uint64_t physical_page = 0;
    uint64_t pages = 0;
  };

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
