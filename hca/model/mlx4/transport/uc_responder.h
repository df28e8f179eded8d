// UcResponder: the receiving half of an unreliable connection (IBA vol 1
// §9.8.2, §9.8.3).
#ifndef IBEMU_HCA_MODEL_MLX4_TRANSPORT_UC_RESPONDER_H_
#define IBEMU_HCA_MODEL_MLX4_TRANSPORT_UC_RESPONDER_H_

#include <cstdint>

#include "hca/model/mlx4/core/parsed_packet.h"
#include "hca/model/mlx4/transport/connection_link.h"
#include "hca/model/mlx4/transport/received_message.h"

namespace ibemu::hca::model::mlx4 {

// The responder of a UC queue pair.  It accepts complete messages, and drops
// all others without telling anyone: those with a gap, those without a receive
// WQE, those too long for it, and those to memory that the peer may not write
// (§9.9.3, class D).  An error in a receive WQE itself breaks the queue pair
// (class A).
class UcResponder {
 public:
  explicit UcResponder(ConnectionLink& link) : link_(link), message_(link) {}

  // The queue pair may receive, from PSN `psn` on.
  void Start(uint32_t psn) { expected_ = psn; }
  void Receive(const ParsedPacket& packet);
  // The queue pair is in error: a partly received message ends with kFlushed.
  void Flush() { message_.FailReceive(prm::CqeSyndrome::kFlushed); }

  uint32_t expected_psn() const { return expected_; }

 private:
  // Takes a receive WQE.  Returns false if there is none.
  bool TakeReceive();

  ConnectionLink& link_;
  ReceivedMessage message_;
  uint32_t expected_ = 0;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_TRANSPORT_UC_RESPONDER_H_
