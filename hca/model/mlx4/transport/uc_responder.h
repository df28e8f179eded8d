// The half of an unreliable connection that receives: IBA vol 1 §9.8.2, §9.8.3.
#ifndef IBEMU_HCA_MODEL_MLX4_TRANSPORT_UC_RESPONDER_H_
#define IBEMU_HCA_MODEL_MLX4_TRANSPORT_UC_RESPONDER_H_

#include <cstdint>

#include "hca/model/mlx4/core/packet.h"
#include "hca/model/mlx4/transport/connection_link.h"
#include "hca/model/mlx4/transport/incoming_message.h"

namespace ibemu::hca::model::mlx4 {

// Takes messages of which all came, and drops the others, without a word to
// anybody: those with a gap, those that nobody waits for, those that are too
// long for who does, those that the peer may not write (§9.9.3, class D).  What
// is wrong with a receive WQE itself breaks the queue pair (class A).
class UcResponder {
 public:
  explicit UcResponder(ConnectionLink& link) : link_(link), message_(link) {}

  // The queue pair may receive, from PSN `psn` on.
  void Start(uint32_t psn) { expected_ = psn; }
  void Receive(const Packet& packet);
  // The queue pair is in error: a message that has half come ends with
  // kFlushed.
  void Flush() { message_.FailReceive(prm::CqeSyndrome::kFlushed); }

  uint32_t expected_psn() const { return expected_; }

 private:
  // Takes a receive WQE.  False: there is none.
  bool TakeReceive();

  ConnectionLink& link_;
  IncomingMessage message_;
  uint32_t expected_ = 0;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_TRANSPORT_UC_RESPONDER_H_
