// MemoryTable: memory protection and translation, from a key and an address to
// the host's memory.
#ifndef IBEMU_HCA_MODEL_MLX4_CORE_MEMORY_TABLE_H_
#define IBEMU_HCA_MODEL_MLX4_CORE_MEMORY_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "hca/model/mlx4/core/core.h"
#include "hca/prm/mlx4_memory.h"
#include "hca/prm/mlx4_wqe.h"

namespace ibemu::hca::model::mlx4 {

// The access that a request makes to memory.
enum class Right {
  kLocalRead,
  kLocalWrite,
  kRemoteRead,
  kRemoteWrite,
  kAtomic
};

// The dMPT table.  It lies in ICM, where software may change an entry that it
// owns, so entries are read there each time.
class MemoryTable {
 public:
  explicit MemoryTable(Core& core) : core_(core) {}

  // SW2HW_MPT, HW2SW_MPT.  They return BAD_RES_STATE if the adapter already
  // owns the entry (Start) or does not own it (Stop).
  prm::CommandStatus Start(uint32_t index, const prm::Mpt& entry);
  prm::CommandStatus Stop(uint32_t index);
  std::optional<prm::Mpt> Find(uint32_t index);

  // Returns the entry of `key`, if it allows the access `right` to `bytes` at
  // `address` from protection domain `pd`.
  std::optional<prm::Mpt> Check(uint32_t key, uint32_t pd, uint64_t address,
                                uint64_t bytes, Right right);

  // Copy from and to memory that Check() allowed.  Return false if an MTT or
  // the host's memory is missing.
  bool Read(const prm::Mpt& entry, uint64_t address, std::span<std::byte> into);
  bool Write(const prm::Mpt& entry, uint64_t address,
             std::span<const std::byte> from);

  // FAST_REGISTER: makes a free entry, of a region of `pd` for which that is
  // enabled, translate the pages that the request lists.  Returns false, and
  // changes nothing, if the entry is not so, has not as many MTTs, or the
  // host's memory has no such list.
  bool FastRegister(const prm::FastRegisterSegment& request, uint32_t pd);
  // LOCAL_INVALIDATE, and what a SEND with invalidate asks for: makes the entry
  // of such a region free.  Returns false if `key` is not that of one.
  bool Invalidate(uint32_t key, uint32_t pd);

  // WRITE_MTT: writes `entries` from index `first` on.
  prm::CommandStatus WriteMtts(uint64_t first,
                               std::span<const std::byte> entries);

 private:
  uint64_t Place(uint32_t index) const {
    return core_.tables.dmpt_base + uint64_t{index} * core_.cap.d_mpt_entry_sz;
  }
  uint32_t IndexOf(uint32_t key) const;
  // Returns the entry of `key`, if the adapter owns it and it is of `pd`.
  std::optional<prm::Mpt> FindKey(uint32_t key, uint32_t pd);
  template <class Span, class Copy>
  bool ForEachPage(const prm::Mpt& entry, uint64_t address, Span bytes,
                   Copy copy);

  Core& core_;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_CORE_MEMORY_TABLE_H_
