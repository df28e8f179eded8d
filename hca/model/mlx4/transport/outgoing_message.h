// OutgoingPart: one packet of a SEND or RDMA WRITE as a connection sends it.
#ifndef IBEMU_HCA_MODEL_MLX4_TRANSPORT_OUTGOING_MESSAGE_H_
#define IBEMU_HCA_MODEL_MLX4_TRANSPORT_OUTGOING_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hca/model/mlx4/transport/connection_link.h"

namespace ibemu::hca::model::mlx4 {

// Returns true if `opcode` asks for a SEND or an RDMA WRITE, of those that
// unreliable connections have, too.
bool IsMessage(prm::WqeOpcode opcode);

// One packet of an outgoing message.  `operation` is that of the BTH's opcode,
// and `headers` are those after the BTH.
struct OutgoingPart {
  uint8_t operation = 0;
  bool last = false;
  bool solicited = false;
  std::vector<std::byte> headers, payload;
};

// Returns packet `index` (from 0) of the message that `wqe` asks for.  Returns
// nothing if a key does not allow access to its memory, or if memory is
// missing.
std::optional<OutgoingPart> CutPart(ConnectionLink& link, const SendWqe& wqe,
                                    uint32_t index);

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_TRANSPORT_OUTGOING_MESSAGE_H_
