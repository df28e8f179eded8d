// Memory protection: from a key and an address to the host's memory.
#ifndef IBEMU_HCA_MODEL_MLX4_CORE_MEMORY_TABLE_H_
#define IBEMU_HCA_MODEL_MLX4_CORE_MEMORY_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "hca/model/mlx4/core/core.h"
#include "hca/prm/mlx4_memory.h"

namespace ibemu::hca::model::mlx4 {

// What a request wants to do with memory.
enum class Right {
  kLocalRead,
  kLocalWrite,
  kRemoteRead,
  kRemoteWrite,
  kAtomic
};

// The dMPT table.  It lies in ICM, where software may change an entry that it
// owns, so it is read there each time.
class MemoryTable {
 public:
  explicit MemoryTable(Core& core) : core_(core) {}

  // SW2HW_MPT, HW2SW_MPT.  BAD_RES_STATE: it is already, or not, the adapter's.
  prm::CommandStatus Start(uint32_t index, const prm::Mpt& entry);
  prm::CommandStatus Stop(uint32_t index);
  std::optional<prm::Mpt> Find(uint32_t index);

  // The entry that `key` names, if it allows `bytes` at `address` to `right` in
  // protection domain `pd`.
  std::optional<prm::Mpt> Check(uint32_t key, uint32_t pd, uint64_t address,
                                uint64_t bytes, Right right);

  // Copies from and to memory that Check() allowed.  False: an MTT is missing,
  // or the host's memory is.
  bool Read(const prm::Mpt& entry, uint64_t address, std::span<std::byte> into);
  bool Write(const prm::Mpt& entry, uint64_t address,
             std::span<const std::byte> from);

  // WRITE_MTT: `entries` from index `first` on.
  prm::CommandStatus WriteMtts(uint64_t first,
                               std::span<const std::byte> entries);

 private:
  uint64_t Place(uint32_t index) const {
    return core_.tables.dmpt_base + uint64_t{index} * core_.cap.d_mpt_entry_sz;
  }
  template <class Span, class Copy>
  bool ForEachPage(const prm::Mpt& entry, uint64_t address, Span bytes,
                   Copy copy);

  Core& core_;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_CORE_MEMORY_TABLE_H_
