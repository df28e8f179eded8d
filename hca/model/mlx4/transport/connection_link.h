// ConnectionLink: the queue pair, as the requester and the responder of a
// connection use it.
#ifndef IBEMU_HCA_MODEL_MLX4_TRANSPORT_CONNECTION_LINK_H_
#define IBEMU_HCA_MODEL_MLX4_TRANSPORT_CONNECTION_LINK_H_

#include <cstdint>
#include <span>

#include "hca/model/mlx4/core/memory_table.h"
#include "hca/model/mlx4/queues/model_receive_queue.h"
#include "hca/model/mlx4/queues/model_send_queue.h"
#include "hca/prm/mlx4_completion.h"
#include "hca/prm/mlx4_events.h"

namespace ibemu::hca::model::mlx4 {

// The interface of a connected queue pair to its requester and its responder.
class ConnectionLink {
 public:
  virtual ~ConnectionLink() = default;

  virtual const prm::QpContext& qp() const = 0;
  virtual MemoryTable& memory() = 0;

  // The fields of an outgoing packet's BTH.
  struct Outgoing {
    uint8_t operation = 0;
    uint32_t psn = 0;
    bool ack_request = false;
    bool solicited = false;
  };
  virtual void Send(const Outgoing& packet, std::span<const std::byte> headers,
                    std::span<const std::byte> payload) = 0;

  // Work requests, and their completions.
  virtual ModelSendQueue::Fetched FetchSend(SendWqe& wqe) = 0;
  virtual void EndSend(const SendWqe& wqe, uint32_t byte_count) = 0;
  virtual void AbortSend(const SendWqe& wqe, prm::CqeSyndrome syndrome) = 0;
  virtual ReceiveSource::Fetched FetchReceive(ReceiveWqe& wqe) = 0;
  virtual void EndReceive(const prm::Cqe& entry, bool solicited) = 0;
  virtual void AbortReceive(uint16_t counter, prm::CqeSyndrome syndrome) = 0;

  // StopSends() puts the queue pair into the send queue error state, in which
  // it still receives.  Break() puts it into the error state, and reports
  // `event` if there is one.
  virtual void StopSends() = 0;
  virtual void Break() = 0;
  virtual void Break(prm::EqeType event) = 0;

  uint64_t mtu() const { return uint64_t{128} << qp().mtu; }
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_TRANSPORT_CONNECTION_LINK_H_
