// What a packet between two queue pairs carries besides its addresses.
#ifndef IBEMU_FABRIC_PACKET_TRANSPORT_H_
#define IBEMU_FABRIC_PACKET_TRANSPORT_H_

#include <cstddef>
#include <cstdint>

#include "verbs/memory.h"
#include "verbs/qp_attributes.h"
#include "wire/psn.h"

namespace ibemu::fabric {

// Base transport header (IBA vol 1 §9.2) and those that follow it, of one
// packet or of a train: packets of one message that follow each other, and
// travel as one as long as nothing tells them apart.
struct Transport {
  enum class Operation : uint8_t {
    kSend,
    kWrite,
    kReadRequest,
    kReadResponse,
    kCompareSwap,
    kFetchAdd,
    kAtomicResponse,
    kAcknowledge,
  };
  // AETH, §9.7.5.2.
  enum class Syndrome : uint8_t {
    kAck,
    kRnrNak,
    kSequenceError,
    kInvalidRequest,
    kAccessError,
    kOperationError,
  };

  verbs::QpType service = verbs::QpType::kRc;
  Operation operation = Operation::kSend;
  bool first = false, last = false;  // of a message
  bool has_immediate = false;
  bool solicited = false;
  bool ack_request = false;
  Syndrome syndrome = Syndrome::kAck;
  uint8_t rnr_timer = 0;  // of kRnrNak, §9.7.5.2.8
  uint32_t psn = 0;
  uint32_t immediate = 0;  // as the client wrote it
  // RETH: of the first kWrite, and of kReadRequest; all but the length are in
  // the AtomicETH, too.
  uint64_t address = 0;
  uint32_t key = 0;
  uint32_t length = 0;
  // AtomicETH; AtomicAckETH.
  uint64_t compare = 0, swap_or_add = 0;
  uint64_t original = 0;

  bool IsAtomic() const {
    return operation == Operation::kCompareSwap ||
           operation == Operation::kFetchAdd;
  }

  verbs::Buffer message;  // null: no payload
  size_t offset = 0, size = 0;
  // All packets of a train but the last carry `payload` bytes, an MTU; what is
  // true of its end alone is so of the last.
  uint32_t packets = 1;
  uint32_t payload = 0;

  uint32_t last_psn() const { return wire::PsnAfter(psn, packets - 1); }
  // The bytes of the longest packet.
  size_t longest() const { return packets > 1 ? payload : size; }
  // One of a train's packets, by itself.
  Transport Single(uint32_t index) const;
  // What is left of a train without its first `count` packets: at least one.
  Transport After(uint32_t count) const;

  // From BTH to the end of the payload, which is padded to 4 bytes; of all
  // packets together.
  uint32_t Bytes() const;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_PACKET_TRANSPORT_H_
