// Transport: the transport headers and payload of packets between queue pairs.
#ifndef IBEMU_FABRIC_PACKET_TRANSPORT_H_
#define IBEMU_FABRIC_PACKET_TRANSPORT_H_

#include <cstddef>
#include <cstdint>

#include "verbs/memory.h"
#include "verbs/qp_attributes.h"
#include "wire/psn.h"

namespace ibemu::fabric {

// The base transport header (BTH, IBA vol 1 §9.2) and the headers that follow
// it.  A Transport is one packet or several consecutive packets of one message,
// which travel together as long as they are treated alike.
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
  // The syndrome in the AETH, §9.7.5.2.
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
  bool first = false, last = false;  // whether it starts, ends a message
  bool has_immediate = false;
  bool has_invalidate = false;  // of kSend: `key` is to be invalidated
  bool solicited = false;
  bool ack_request = false;
  Syndrome syndrome = Syndrome::kAck;
  uint8_t rnr_timer = 0;  // of kRnrNak, §9.7.5.2.8
  uint32_t psn = 0;
  uint32_t immediate = 0;  // in the byte order in which the client wrote it
  // RETH of the first kWrite packet and of kReadRequest.  The AtomicETH has
  // `address` and `key`, too.
  uint64_t address = 0;
  uint32_t key = 0;
  uint32_t length = 0;
  // AtomicETH, then AtomicAckETH.
  uint64_t compare = 0, swap_or_add = 0;
  uint64_t original = 0;

  bool IsAtomic() const {
    return operation == Operation::kCompareSwap ||
           operation == Operation::kFetchAdd;
  }

  verbs::Buffer message;  // null: no payload
  size_t offset = 0, size = 0;
  // All packets but the last have `payload` bytes, an MTU.  Properties of the
  // end of a message apply to the last packet only.
  uint32_t packets = 1;
  uint32_t payload = 0;

  uint32_t last_psn() const { return wire::PsnAfter(psn, packets - 1); }
  // Returns the payload of the longest packet, in bytes.
  size_t longest() const { return packets > 1 ? payload : size; }
  // Returns true if the packets have the lengths that those of a message have
  // at a path MTU of `mtu` bytes: all but the last are full, and the last one
  // is not empty, unless the message is (IBA vol 1 §9.7.4.1.6).
  bool FitsMtu(size_t mtu) const;
  // Returns one of the packets, by itself.
  Transport Single(uint32_t index) const;
  // Returns the packets without the first `count`.  REQUIRES: at least one is
  // left.
  Transport After(uint32_t count) const;

  // Returns the bytes from BTH to the end of the payload, which is padded to 4
  // bytes, summed over all packets.
  uint32_t Bytes() const;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_PACKET_TRANSPORT_H_
