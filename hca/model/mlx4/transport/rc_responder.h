// RcResponder: the receiving half of a reliable connection (IBA vol 1 §9.7.4,
// §9.7.5).
#ifndef IBEMU_HCA_MODEL_MLX4_TRANSPORT_RC_RESPONDER_H_
#define IBEMU_HCA_MODEL_MLX4_TRANSPORT_RC_RESPONDER_H_

#include <cstdint>
#include <deque>
#include <optional>

#include "hca/model/mlx4/core/parsed_packet.h"
#include "hca/model/mlx4/transport/connection_link.h"
#include "hca/model/mlx4/transport/received_message.h"

namespace ibemu::hca::model::mlx4 {

// The responder of an RC queue pair.  It receives messages, answers RDMA READs
// and atomic operations, and sends acknowledgements.
class RcResponder {
 public:
  explicit RcResponder(ConnectionLink& link) : link_(link), message_(link) {}

  // The queue pair may receive, from PSN `psn` on.
  void Start(uint32_t psn) { expected_ = psn; }
  void Receive(const ParsedPacket& request);
  // The queue pair is in error: a partly received message ends with kFlushed.
  void Flush() { message_.FailReceive(prm::CqeSyndrome::kFlushed); }

  uint32_t expected_psn() const { return expected_; }
  uint32_t message_number() const { return message_number_; }

 private:
  void OnDuplicate(const ParsedPacket& request);
  void OnMessage(const ParsedPacket& request);
  void OnRead(ParsedPacket request, bool duplicate);
  void OnAtomic(ParsedPacket request);

  // Takes a receive WQE.  Returns false if there is none; the peer has been
  // told then.
  bool TakeReceive();
  // Counts the expected packet as received, and acknowledges it if the peer
  // asked for that.
  void Accept(const ParsedPacket& request, bool end_of_message);
  void Acknowledge(uint32_t psn, uint8_t syndrome);
  // Sends a NAK with `code`, and breaks the connection with `event`.
  void Refuse(uint8_t code, prm::EqeType event);

  ConnectionLink& link_;
  uint32_t expected_ = 0;
  uint32_t message_number_ = 0;
  bool sequence_told_ = false;  // a NAK for a missing packet was sent

  ReceivedMessage message_;

  // The result of an atomic operation.
  struct Result {
    uint32_t psn = 0;
    uint64_t original = 0;
  };
  std::deque<Result> atomics_;  // the last ones, to answer duplicates
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_TRANSPORT_RC_RESPONDER_H_
