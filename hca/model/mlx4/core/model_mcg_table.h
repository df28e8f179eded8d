// ModelMcgTable: the multicast groups.
#ifndef IBEMU_HCA_MODEL_MLX4_CORE_MODEL_MCG_TABLE_H_
#define IBEMU_HCA_MODEL_MLX4_CORE_MODEL_MCG_TABLE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "hca/model/mlx4/core/core.h"
#include "hca/prm/mlx4_management.h"

namespace ibemu::hca::model::mlx4 {

// The table in ICM.  Its first part has one entry for each hash, and the rest
// holds the further entries of hash chains.  Software maintains the chains
// (mlx4/mcg.c).
class ModelMcgTable {
 public:
  explicit ModelMcgTable(Core& core) : core_(core) {}

  size_t entry_bytes() const {
    return size_t{1} << core_.tables.log_mc_entry_sz;
  }

  // READ_MCG, WRITE_MCG.  They return BAD_INDEX or ICM_ERROR if the entry does
  // not exist or has no memory.  Write returns BAD_PARAM if there are more
  // members than an entry can hold, if the next index is beyond the table, or
  // if a reserved bit is set.
  prm::CommandStatus Read(uint32_t index, std::span<std::byte> entry);
  prm::CommandStatus Write(uint32_t index, std::span<const std::byte> entry);

  // MGID_HASH: returns the hash of `gid`.
  uint32_t Hash(std::span<const uint8_t, 16> gid) const;

  // Returns the queue pairs of group `gid`.
  std::vector<prm::McgMember> Members(std::span<const uint8_t, 16> gid);

 private:
  uint64_t Place(uint32_t index) const {
    return core_.tables.mc_base + uint64_t{index} * entry_bytes();
  }
  prm::CommandStatus Check(uint32_t index) const;

  Core& core_;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_CORE_MODEL_MCG_TABLE_H_
