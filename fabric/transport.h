// What a packet between two queue pairs carries besides its addresses.
#ifndef IBEMU_FABRIC_TRANSPORT_H_
#define IBEMU_FABRIC_TRANSPORT_H_

#include <cstddef>
#include <cstdint>

#include "verbs/memory.h"
#include "verbs/qp_attributes.h"

namespace ibemu::fabric {

// Packet sequence numbers count modulo 2^24.
inline constexpr uint32_t kPsnMask = 0xffffff;

// How far `a` is ahead of `b`; negative: behind it (IBA vol 1 §9.7.1).
constexpr int32_t PsnDistance(uint32_t a, uint32_t b) {
  return static_cast<int32_t>((a - b) << 8) >> 8;
}
constexpr uint32_t PsnAfter(uint32_t psn, uint32_t count) {
  return (psn + count) & kPsnMask;
}

// Base transport header (IBA vol 1 §9.2) and those that follow it.
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

  verbs::QpType service = verbs::QpType::kReliable;
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

  // From BTH to the end of the payload, which is padded to 4 bytes.
  uint32_t Bytes() const {
    const bool reth = (operation == Operation::kWrite && first) ||
                      operation == Operation::kReadRequest;
    const bool atomic_response = operation == Operation::kAtomicResponse;
    const bool aeth =
        operation == Operation::kAcknowledge || atomic_response ||
        (operation == Operation::kReadResponse && (first || last));
    const bool deth = service == verbs::QpType::kDatagram;
    return 12 + (reth ? 16 : 0) + (aeth ? 4 : 0) + (deth ? 8 : 0) +
           (IsAtomic() ? 28 : 0) + (atomic_response ? 8 : 0) +
           (has_immediate ? 4 : 0) +
           static_cast<uint32_t>((size + 3) & ~size_t{3});
  }
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_TRANSPORT_H_
