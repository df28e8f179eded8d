// PartialMessage: a SEND or RDMA WRITE of which some packets have arrived.
#ifndef IBEMU_FABRIC_SOFT_HCA_TRANSPORT_PARTIAL_MESSAGE_H_
#define IBEMU_FABRIC_SOFT_HCA_TRANSPORT_PARTIAL_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "fabric/packet/transport.h"
#include "fabric/soft_hca/transport/queue_pair_link.h"
#include "verbs/parts/memory_transfer.h"
#include "verbs/provider.h"

namespace ibemu::fabric {

// The message that a connection is receiving, with its receive request, and the
// payload that is not on its way to memory yet.  The object only detects
// errors; their consequences depend on the service, and are up to the caller.
class PartialMessage {
 public:
  enum class Placed {
    kOk,
    // It doesn't follow the packet before, has no such length, or asks for what
    // nobody here can do.
    kInvalid,
    kBadLength,   // a write is longer or shorter than it said
    kAccess,      // the peer may not write to this memory
    kNoReceive,   // there is no receive request for it
    kTooLong,     // for the receive request
    kProtection,  // a key of the receive request allows no access
  };

  explicit PartialMessage(QueuePairLink& link) : link_(link), qp_(link.qp()) {}
  PartialMessage(const PartialMessage&) = delete;
  PartialMessage& operator=(const PartialMessage&) = delete;

  bool begun() const { return message_.has_value(); }
  // Returns true if it has taken a receive request.
  bool receives() const { return message_ && message_->receive; }

  // Adds the next packets of a message: gives their payload its place in
  // memory.  After kNoReceive the same packets may come again.
  Placed Add(const Transport& packets);

  // Returns the number of bytes that were added and not taken.
  size_t size() const { return payload_.size(); }
  // Takes what is to be written to memory.
  verbs::MemoryTransfer TakePayload();

  // Ends the message, whose last packet was `last`: returns the completion of
  // its receive request, if it took one.
  std::optional<verbs::WorkCompletion> End(const Transport& last);
  // Ends the message with an error: returns the completion of its receive
  // request.  REQUIRES: it took one.
  verbs::WorkCompletion Fail(uint32_t status);
  // Discards the message, which was cut short, and puts its receive request
  // back.
  void Drop();

  // The queue pair is in error: completes the receive request with `status`.
  void Flush(uint32_t status);
  void Reset();

 private:
  struct Message {
    Transport::Operation operation;
    uint64_t address;  // RDMA WRITE only
    uint32_t key, size;
    size_t length = 0;  // received so far
    std::optional<verbs::ReceiveRequest> receive;
  };

  Placed Begin(const Transport& packets);
  // Says why, in the history.  Returns `how`.
  Placed Denied(const Transport& packets, Placed how, absl::string_view why);
  absl::Status CheckWrite(const Transport& packets) const;
  bool HasItsLength(const Transport& packets) const;
  Placed Place(const Transport& packets);
  Placed PlaceWrite(const Transport& packets);
  Placed PlaceSend(const Transport& packets);

  QueuePairLink& link_;
  const QueuePairContext& qp_;
  std::optional<Message> message_;
  uint32_t denied_psn_ = 0;  // of the packet that was denied last
  verbs::MemoryTransfer payload_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_TRANSPORT_PARTIAL_MESSAGE_H_
