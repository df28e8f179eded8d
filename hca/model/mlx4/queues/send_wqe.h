// SendWqe: a send work queue entry, parsed.
#ifndef IBEMU_HCA_MODEL_MLX4_QUEUES_SEND_WQE_H_
#define IBEMU_HCA_MODEL_MLX4_QUEUES_SEND_WQE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hca/model/mlx4/queues/scatter_gather.h"
#include "hca/prm/mlx4_qp.h"
#include "hca/prm/mlx4_wqe.h"

namespace ibemu::hca::model::mlx4 {

// A send WQE.  `sges` is its SGE list.
struct SendWqe {
  uint16_t counter = 0;  // number of the WQE in its queue, from 0
  prm::ControlSegment control;
  prm::MlxSegment mlx;            // only of service MLX
  prm::DatagramSegment datagram;  // only of service UD
  prm::RemoteAddressSegment remote;
  prm::AtomicSegment atomic;
  prm::FastRegisterSegment fast_register;
  prm::LocalInvalidateSegment invalidate;
  std::vector<Sge> sges;
  uint64_t length = 0;  // of the message, in bytes

  bool signaled() const {
    return control.completion == prm::kCompletionRequested;
  }
};

// Returns nothing if the segments don't fit into the WQE's size, or the WQE's
// size does not fit into `wqe`.
std::optional<SendWqe> ParseSendWqe(std::span<const std::byte> wqe,
                                    prm::QpService service);

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_QUEUES_SEND_WQE_H_
