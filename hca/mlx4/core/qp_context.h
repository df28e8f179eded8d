// The conversion of queue pairs' attributes to and from the adapter's contexts.
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

// Returns the address vector of a datagram.  Its protection domain is left 0,
// for the caller to set.  `rates`: QueryDevCap::stat_rate_support, one bit for
// each of the adapter's rate codes.
prm::Mlx4Av AddressVectorOf(const verbs::AddressAttributes& address,
                            uint16_t rates);

// Returns the command that leads from one state to the other; none if the
// adapter has no such command.
std::optional<prm::Opcode> TransitionOf(verbs::QpState from, verbs::QpState to);

// Puts all of `attributes` into `context`.  `rates`: as above.
void SetAttributes(verbs::QpType type, const verbs::QpAttributes& attributes,
                   uint16_t rates, prm::QpContext& context);

// Returns the bits of prm::QpOptional that make `opcode` take the attributes of
// `mask` (bits: verbs::qp_attribute).  As in Linux, they include attributes
// that the transition requires.
uint32_t OptionalOf(prm::Opcode opcode, uint32_t mask);

// Returns the input mailbox of the QP commands.
std::vector<std::byte> QpMailbox(const prm::QpContext& context,
                                 uint32_t optional);

// Convert between the state that QUERY_QP tells or a context has, and that of
// verbs.
verbs::QpState StateOf(prm::QpContextState state);
prm::QpContextState ContextState(verbs::QpState state);

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_QP_CONTEXT_H_
