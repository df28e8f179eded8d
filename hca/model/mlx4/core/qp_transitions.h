// The state machine of a queue pair, as commands drive it.
#ifndef IBEMU_HCA_MODEL_MLX4_CORE_QP_TRANSITIONS_H_
#define IBEMU_HCA_MODEL_MLX4_CORE_QP_TRANSITIONS_H_

#include <cstdint>
#include <optional>

#include "hca/prm/mlx4_commands.h"
#include "hca/prm/mlx4_qp.h"

namespace ibemu::hca::model::mlx4 {

// Returns the state that `opcode` leads to from `from`, or nothing if it may
// not be given there (mlx4/qp.c: __mlx4_qp_modify; IBA vol 1 §10.3.1).
std::optional<prm::QpContextState> NextState(prm::Opcode opcode,
                                             prm::QpContextState from);

// Returns the optional components that `opcode` has for a queue pair of
// `service`, as bits of prm::QpOptional.  Components that a transition requires
// are included, because Linux names them as well (IBA vol 1 §11.2.5.2, table
// 91).
uint32_t OptionalComponents(prm::Opcode opcode, prm::QpService service);

// Copies to `context` the components of `given` that `opcode` sets.  `optional`
// (prm::QpOptional) holds the further ones that software asks for.
void TakeContext(prm::Opcode opcode, uint32_t optional,
                 const prm::QpContext& given, prm::QpContext& context);

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_CORE_QP_TRANSITIONS_H_
