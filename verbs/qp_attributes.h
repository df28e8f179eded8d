// States and attributes of queue pairs, with the numbers that libibverbs and
// the kernel use for them.
#ifndef IBEMU_VERBS_QP_ATTRIBUTES_H_
#define IBEMU_VERBS_QP_ATTRIBUTES_H_

#include <rdma/ib_user_verbs.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ibemu::verbs {

// Types of queue pairs: those of enum ib_qp_type that devices here have.
enum class QpType : uint8_t {
  kSmi = 0,
  kGsi = 1,
  kRc = 2,
  kUc = 3,
  kUd = 4,
};

// States of queue pairs: IBA vol 1 §10.3.1.
enum class QpState : uint8_t {
  kReset = 0,
  kInit = 1,
  kReadyToReceive = 2,
  kReadyToSend = 3,
  kSendQueueDrain = 4,
  kSendQueueError = 5,
  kError = 6,
};

// Returns the specification's name, "RTS".
constexpr std::string_view NameOf(QpState state) {
  constexpr std::string_view kNames[] = {"RESET", "INIT", "RTR", "RTS",
                                         "SQD",   "SQE",  "ERR"};
  return kNames[static_cast<size_t>(state)];
}

// States of a connection that may have an alternate path (IBA vol 1 §17.2.8):
// enum ib_mig_state.
enum class MigrationState : uint32_t {
  kMigrated = 0,
  kRearm = 1,
  kArmed = 2,
};

// Returns the specification's name.
constexpr std::string_view NameOf(MigrationState state) {
  constexpr std::string_view kNames[] = {"MIGRATED", "REARM", "ARMED"};
  return kNames[static_cast<size_t>(state)];
}

// Bits of qp_attr_mask: enum ib_qp_attr_mask.
namespace qp_attribute {
inline constexpr uint32_t kState = 1u << 0;
inline constexpr uint32_t kCurrentState = 1u << 1;
inline constexpr uint32_t kNotifyDrained = 1u << 2;
inline constexpr uint32_t kAccessFlags = 1u << 3;
inline constexpr uint32_t kPKeyIndex = 1u << 4;
inline constexpr uint32_t kPort = 1u << 5;
inline constexpr uint32_t kQKey = 1u << 6;
inline constexpr uint32_t kAddress = 1u << 7;
inline constexpr uint32_t kPathMtu = 1u << 8;
inline constexpr uint32_t kTimeout = 1u << 9;
inline constexpr uint32_t kRetryCount = 1u << 10;
inline constexpr uint32_t kRnrRetry = 1u << 11;
inline constexpr uint32_t kReceivePsn = 1u << 12;
inline constexpr uint32_t kMaxReads = 1u << 13;
inline constexpr uint32_t kAlternatePath = 1u << 14;
inline constexpr uint32_t kMinRnrTimer = 1u << 15;
inline constexpr uint32_t kSendPsn = 1u << 16;
inline constexpr uint32_t kMaxReadsHere = 1u << 17;
inline constexpr uint32_t kMigrationState = 1u << 18;
inline constexpr uint32_t kCapacity = 1u << 19;
inline constexpr uint32_t kDestinationQp = 1u << 20;
}  // namespace qp_attribute

// Access to memory: enum ib_access_flags.
namespace access {
inline constexpr uint32_t kLocalWrite = 1u << 0;
inline constexpr uint32_t kRemoteWrite = 1u << 1;
inline constexpr uint32_t kRemoteRead = 1u << 2;
inline constexpr uint32_t kRemoteAtomic = 1u << 3;
inline constexpr uint32_t kBindWindow = 1u << 4;
inline constexpr uint32_t kZeroBased = 1u << 5;
inline constexpr uint32_t kHugeTlb = 1u << 7;
// A device that does not know these bits ignores them.
inline constexpr uint32_t kOptional = 0x3ff00000;
}  // namespace access

// Asynchronous events: enum ib_event_type.
enum class AsyncEventType : uint32_t {
  kCqError = 0,
  kQpFatal = 1,
  kQpRequestError = 2,
  kQpAccessError = 3,
  kCommunicationEstablished = 4,
  kSendQueueDrained = 5,
  kPathMigrated = 6,
  kDeviceFatal = 8,
  kPortActive = 9,
  kPortError = 10,
  kLidChange = 11,
  kPKeyChange = 12,
  kSmChange = 13,
  kSrqError = 14,
  kSrqLimit = 15,
  kLastWqeReached = 16,
  kClientReregister = 17,
  kGidChange = 18,
};

// All attributes of a queue pair at once, as in INIT_QP_ATTR of rdma_cm.
using QpAttributes = ib_uverbs_qp_attr;
using AddressAttributes = ib_uverbs_ah_attr;

// Returns true if the mask of `attributes` has `bit`, a bit of qp_attribute.
inline bool Names(const QpAttributes& attributes, uint32_t bit) {
  return (attributes.qp_attr_mask & bit) != 0;
}

// Copies to `to` the attributes that `from` names, except states (that of path
// migration included), capacities and the notification of a drained send queue.
void TakeNamed(const QpAttributes& from, QpAttributes& to);

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_QP_ATTRIBUTES_H_
