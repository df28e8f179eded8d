// The conversion of completions to those of verbs.
#ifndef IBEMU_HCA_MLX4_VERBS_WORK_COMPLETION_H_
#define IBEMU_HCA_MLX4_VERBS_WORK_COMPLETION_H_

#include <cstdint>

#include "hca/prm/mlx4_completion.h"

namespace ibemu::hca::mlx4 {

// Returns the wc_status of a request that failed with `syndrome`.
uint32_t StatusOf(prm::CqeSyndrome syndrome);

// Returns the ib_wc_opcode of a send request with this ib_uverbs_wr_opcode.
uint32_t CompletionOpcodeOf(uint32_t opcode);

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_VERBS_WORK_COMPLETION_H_
