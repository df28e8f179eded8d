// Attributes of queue pairs as the adapter's contexts have them.
#ifndef IBEMU_HCA_MLX4_CORE_QP_CONTEXT_H_
#define IBEMU_HCA_MLX4_CORE_QP_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hca/prm/mlx4_commands.h"
#include "hca/prm/mlx4_qp.h"
#include "hca/prm/mlx4_wqe.h"
#include "verbs/provider.h"

namespace ibemu::hca::mlx4 {

// Of a datagram; its domain is the driver's own, 0, as that of all queue pairs.
// `rates`: QueryDevCap::stat_rate_support, of the adapter's codes one bit each.
prm::AddressVector AddressVectorOf(const verbs::AddressAttributes& address,
                                   uint16_t rates);

// The command that leads from one state to the other; none: the adapter has
// none.
std::optional<prm::Opcode> TransitionOf(verbs::QpState from, verbs::QpState to);

// Puts all of `attributes` into `context`.  `rates`: as above.
void SetAttributes(verbs::QpType type, const verbs::QpAttributes& attributes,
                   uint16_t rates, prm::QpContext& context);

// What `opcode` is told to take for the attributes of `mask` (bits:
// verbs::qp_attribute), be they required or not, as Linux has it: bits of
// prm::QpOptional.
uint32_t OptionalOf(prm::Opcode opcode, uint32_t mask);

// As QP commands want it.
std::vector<std::byte> QpMailbox(const prm::QpContext& context,
                                 uint32_t optional);

// As verbs call the state that QUERY_QP tells; and as a context has it.
verbs::QpState StateOf(prm::QpState state);
prm::QpState ContextState(verbs::QpState state);

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_QP_CONTEXT_H_
