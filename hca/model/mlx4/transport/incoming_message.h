// SENDs and RDMA WRITEs as connections receive them.
#ifndef IBEMU_HCA_MODEL_MLX4_TRANSPORT_INCOMING_MESSAGE_H_
#define IBEMU_HCA_MODEL_MLX4_TRANSPORT_INCOMING_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "hca/model/mlx4/core/packet.h"
#include "hca/model/mlx4/transport/connection_link.h"

namespace ibemu::hca::model::mlx4 {

// What one packet of a message says.
struct IncomingPart {
  bool write = false, first = false, last = false;
  std::optional<uint32_t> immediate;
  wire::RdmaHeader target;             // of a write's first
  std::span<const std::byte> payload;  // it belongs to whom the packet does
  // Of the whole packet, for the completion.
  const Packet* packet = nullptr;

  bool takes_receive() const { return write ? immediate.has_value() : first; }
};

// None: it is of another operation, or too short for its headers.
std::optional<IncomingPart> ParsePart(const Packet& packet);

// The message that is coming in, packet by packet, and its receive WQE.  What
// it means that something is wrong is for the service to say.
class IncomingMessage {
 public:
  enum class Placed {
    kOk,
    kTooLong,     // for the receive WQE
    kProtection,  // the receive WQE's keys don't open their memory
    kAccess       // the peer may not write there
  };

  explicit IncomingMessage(ConnectionLink& link) : link_(link) {}

  bool begun() const { return kind_ != Kind::kNone; }

  // Whether `part` may come next: IBA vol 1 §9.7.4.1, its place and its length.
  bool Continues(const IncomingPart& part) const;

  // For a part that takes one: the next receive WQE, or that of a message that
  // was given up.
  ReceiveSource::Fetched TakeReceive();

  // Puts the payload where it belongs; after kOk the next part may come.
  Placed Place(const IncomingPart& part);
  // The last one was placed: completes the receive WQE, if it took one.
  void End(const IncomingPart& part);

  // The rest will not come.  The receive WQE is the next message's.
  void GiveUp() { kind_ = Kind::kNone; }
  // The receive WQE, if there is one, ends so.
  void FailReceive(prm::CqeSyndrome syndrome);

 private:
  enum class Kind { kNone, kSend, kWrite };

  bool Write(const wire::RdmaHeader& target, uint64_t offset,
             std::span<const std::byte> bytes);

  ConnectionLink& link_;
  Kind kind_ = Kind::kNone;
  std::optional<ReceiveWqe> receive_;
  uint64_t received_ = 0;    // bytes
  wire::RdmaHeader target_;  // of a write
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_TRANSPORT_INCOMING_MESSAGE_H_
