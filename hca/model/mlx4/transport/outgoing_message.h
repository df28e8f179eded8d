// SENDs and RDMA WRITEs as connections send them.
#ifndef IBEMU_HCA_MODEL_MLX4_TRANSPORT_OUTGOING_MESSAGE_H_
#define IBEMU_HCA_MODEL_MLX4_TRANSPORT_OUTGOING_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hca/model/mlx4/transport/connection_link.h"

namespace ibemu::hca::model::mlx4 {

// Whether `opcode` asks for such a message.
bool IsMessage(prm::WqeOpcode opcode);

// One packet of a message.
struct OutgoingPart {
  uint8_t operation = 0;
  bool last = false;
  bool solicited = false;
  std::vector<std::byte> headers, payload;
};

// The packet number `index` of the message that `wqe` asks for, from 0 on.
// None: a key does not open its memory, or memory is missing.
std::optional<OutgoingPart> CutPart(ConnectionLink& link, const SendWqe& wqe,
                                    uint32_t index);

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_TRANSPORT_OUTGOING_MESSAGE_H_
