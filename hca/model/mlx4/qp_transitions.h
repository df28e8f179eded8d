// The state machine of a queue pair, as far as commands move it.
#ifndef IBEMU_HCA_MODEL_MLX4_QP_TRANSITIONS_H_
#define IBEMU_HCA_MODEL_MLX4_QP_TRANSITIONS_H_

#include <cstdint>
#include <optional>

#include "hca/prm/mlx4_commands.h"
#include "hca/prm/mlx4_qp.h"

namespace ibemu::hca::model::mlx4 {

// The state that `opcode` leads to from `from`, if it may be given there
// (mlx4/qp.c: __mlx4_qp_modify; IBA vol 1 §10.3.1).
std::optional<prm::QpState> NextState(prm::Opcode opcode, prm::QpState from);

// Takes from `given` what `opcode` takes, `optional` (prm::QpOptional) being
// what software asks for besides.
void TakeContext(prm::Opcode opcode, uint32_t optional,
                 const prm::QpContext& given, prm::QpContext& context);

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_QP_TRANSITIONS_H_
