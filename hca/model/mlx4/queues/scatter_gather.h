// Sge: an SGE of a work request, and functions to copy by SGE lists.
#ifndef IBEMU_HCA_MODEL_MLX4_QUEUES_SCATTER_GATHER_H_
#define IBEMU_HCA_MODEL_MLX4_QUEUES_SCATTER_GATHER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hca/model/mlx4/core/memory_table.h"
#include "hca/prm/mlx4_wqe.h"

namespace ibemu::hca::model::mlx4 {

// An SGE: memory that a key gives access to, or inline data of the WQE itself.
struct Sge {
  uint64_t bytes = 0;
  uint32_t lkey = 0;
  uint64_t address = 0;
  std::vector<std::byte> inlined{};  // else lkey and address count
};

// Returns the length of the message.
uint64_t BytesOf(std::span<const Sge> sges);

// Copies the bytes of the message from `offset` on to `into`, which must not
// reach beyond the end of the message.  Returns false if a key does not allow
// access to its memory, or if memory is missing.
bool Gather(MemoryTable& memory, uint32_t pd, std::span<const Sge> sges,
            uint64_t offset, std::span<std::byte> into);

enum class Scattered { kOk, kTooLong, kProtection };
// Copies `from` to `offset` of the message.
Scattered Scatter(MemoryTable& memory, uint32_t pd, std::span<const Sge> sges,
                  uint64_t offset, std::span<const std::byte> from);

// Returns the data segments of a receive WQE, up to its end or to an empty one
// with kInvalidLKey.
std::vector<Sge> ParseReceiveWqe(std::span<const std::byte> wqe);

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_QUEUES_SCATTER_GATHER_H_
