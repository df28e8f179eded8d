// A send work queue entry, read.
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

struct SendWqe {
  uint16_t counter = 0;  // which one of its queue, from 0 on and on
  prm::ControlSegment control;
  prm::MlxSegment mlx;            // of a queue pair of service MLX
  prm::DatagramSegment datagram;  // of UD
  prm::RemoteAddressSegment remote;
  prm::AtomicSegment atomic;
  prm::FastRegisterSegment fast_register;
  prm::LocalInvalidateSegment invalidate;
  std::vector<Sge> sges;
  uint64_t length = 0;  // of the message, bytes

  bool signaled() const {
    return control.completion == prm::kCompletionRequested;
  }
};

// None: the segments don't fit into the WQE's size, or `wqe`.
std::optional<SendWqe> ParseSendWqe(std::span<const std::byte> wqe,
                                    prm::QpService service);

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_QUEUES_SEND_WQE_H_
