// The memory of a work request.
#ifndef IBEMU_HCA_MODEL_MLX4_QUEUES_SCATTER_GATHER_H_
#define IBEMU_HCA_MODEL_MLX4_QUEUES_SCATTER_GATHER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hca/model/mlx4/core/memory_table.h"
#include "hca/prm/mlx4_wqe.h"

namespace ibemu::hca::model::mlx4 {

// A piece of a message: memory that a key opens, or bytes of the WQE itself.
struct Sge {
  uint64_t bytes = 0;
  uint32_t lkey = 0;
  uint64_t address = 0;
  std::vector<std::byte> inlined{};  // then it counts alone
};

uint64_t BytesOf(std::span<const Sge> sges);

// The message's bytes from `offset` on; `into` must not reach beyond its end.
// False: a key does not open its piece, or memory is missing.
bool Gather(MemoryTable& memory, uint32_t pd, std::span<const Sge> sges,
            uint64_t offset, std::span<std::byte> into);

enum class Scattered { kOk, kTooLong, kProtection };
// Puts `from` at `offset` of the message.
Scattered Scatter(MemoryTable& memory, uint32_t pd, std::span<const Sge> sges,
                  uint64_t offset, std::span<const std::byte> from);

// The data segments of a receive WQE: up to its end, or an empty one with
// kInvalidLKey.
std::vector<Sge> ParseReceiveWqe(std::span<const std::byte> wqe);

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_QUEUES_SCATTER_GATHER_H_
