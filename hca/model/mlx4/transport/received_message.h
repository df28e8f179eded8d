// ReceivedMessage: a SEND or RDMA WRITE as a connection receives it.
#ifndef IBEMU_HCA_MODEL_MLX4_TRANSPORT_RECEIVED_MESSAGE_H_
#define IBEMU_HCA_MODEL_MLX4_TRANSPORT_RECEIVED_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "hca/model/mlx4/core/parsed_packet.h"
#include "hca/model/mlx4/transport/connection_link.h"

namespace ibemu::hca::model::mlx4 {

// One packet of an incoming message.
struct IncomingPart {
  bool write = false, first = false, last = false;
  std::optional<uint32_t> immediate;
  std::optional<uint32_t> invalidate;  // the key
  wire::RdmaHeader target;             // of an RDMA WRITE's first packet
  std::span<const std::byte> payload;  // points into the packet
  // The whole packet, for the completion.
  const ParsedPacket* packet = nullptr;

  bool takes_receive() const { return write ? immediate.has_value() : first; }
};

// Returns true for a SEND with invalidate, of a whole opcode: reliable
// connections alone have it.
bool IsSendInvalidate(uint8_t opcode);

// Returns nothing if the packet is of another operation, or too short for its
// headers.
std::optional<IncomingPart> ParsePart(const ParsedPacket& packet);

// The message that is being received, packet by packet, and its receive WQE.
// The object only detects errors; their consequences depend on the service, and
// are up to the caller.
class ReceivedMessage {
 public:
  enum class Placed {
    kOk,
    kTooLong,     // for the receive WQE
    kProtection,  // a key of the receive WQE allows no access
    kAccess,      // the peer may not write to this memory
    kInvalidate   // nor invalidate this key
  };

  explicit ReceivedMessage(ConnectionLink& link) : link_(link) {}

  bool begun() const { return kind_ != Kind::kNone; }

  // Returns true if `part` may come next, by its position and its length (IBA
  // vol 1 §9.7.4.1).
  bool Continues(const IncomingPart& part) const;

  // For a part that takes one: fetches the next receive WQE, or reuses that of
  // a message that was given up.
  ReceiveSource::Fetched TakeReceive();

  // Copies the payload to its destination.  After kOk the next part may come.
  Placed Place(const IncomingPart& part);
  // Ends the message, whose last part was placed: completes the receive WQE, if
  // it took one.
  void End(const IncomingPart& part);

  // Gives the message up, as its other packets will not come.  The next message
  // gets the receive WQE.
  void GiveUp() { kind_ = Kind::kNone; }
  // Completes the receive WQE, if there is one, with `syndrome`.
  void FailReceive(prm::CqeSyndrome syndrome);

 private:
  enum class Kind { kNone, kSend, kWrite };

  bool Write(const wire::RdmaHeader& target, uint64_t offset,
             std::span<const std::byte> bytes);

  ConnectionLink& link_;
  Kind kind_ = Kind::kNone;
  std::optional<ReceiveWqe> receive_;
  uint64_t received_ = 0;    // bytes
  wire::RdmaHeader target_;  // of an RDMA WRITE
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_TRANSPORT_RECEIVED_MESSAGE_H_
