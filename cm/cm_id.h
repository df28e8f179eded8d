// CmId: one end of a connection, or of a service ID resolution, of the
// InfiniBand communication manager.
#ifndef IBEMU_CM_CM_ID_H_
#define IBEMU_CM_CM_ID_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cm/state.h"
#include "mad/address.h"
#include "mad/wire/sa_paths.h"
#include "verbs/qp_attributes.h"
#include "wire/types.h"

namespace ibemu::cm {

// Enhanced connection establishment: a vendor and its options (ib_ece).
struct Ece {
  uint32_t vendor_id = 0;
  uint32_t attr_mod = 0;
  bool operator==(const Ece&) const = default;
};

// The arguments of a REQ (ib_cm_req_param).
struct CmRequest {
  mad::PathRecord path{};  // the primary one
  uint64_t service_id = 0;
  verbs::QpType qp_type = verbs::QpType::kRc;  // kRc or kUc
  uint32_t qpn = 0;
  uint32_t starting_psn = 0;
  uint8_t responder_resources = 0;
  uint8_t initiator_depth = 0;
  bool flow_control = false;
  uint8_t retry_count = 0;
  uint8_t rnr_retry_count = 0;
  bool srq = false;
  Ece ece{};
  std::vector<std::byte> private_data{};  // at most 92 bytes
};

// The arguments of a REP (ib_cm_rep_param).
struct CmReply {
  uint32_t qpn = 0;
  uint32_t starting_psn = 0;
  uint8_t responder_resources = 0;
  uint8_t initiator_depth = 0;
  bool flow_control = false;
  uint8_t rnr_retry_count = 0;
  bool srq = false;
  Ece ece{};
  std::vector<std::byte> private_data{};  // at most 196 bytes
};

// Why a REJ was sent: IBA vol 1 §12.6.7.2.  Others arrive, too.
enum class RejectReason : uint16_t {
  kTimeout = 4,
  kInvalidServiceId = 8,
  kStaleConnection = 10,
  kInvalidGid = 12,
  kInvalidAlternateGid = 18,
  kConsumerDefined = 28,
  kVendorOptionNotSupported = 35,
};

// The arguments of a SIDR_REQ (ib_cm_sidr_req_param).
struct SidrRequest {
  mad::PathRecord path{};
  uint64_t service_id = 0;
  std::vector<std::byte> private_data{};  // at most 216 bytes
};

// The status in a SIDR_REP: IBA vol 1 §12.11 (ib_cm_sidr_status).  Others
// arrive, too.
enum class SidrStatus : uint8_t {
  kSuccess = 0,
  kUnsupported = 1,  // nobody listens
  kReject = 2,
};

// The arguments of a SIDR_REP (ib_cm_sidr_rep_param).
struct SidrReply {
  SidrStatus status = SidrStatus::kSuccess;
  uint32_t qpn = 0;
  uint32_t qkey = 0;
  Ece ece{};
  std::vector<std::byte> private_data{};  // at most 136 bytes
};

// A CmEvent is something that happened to a CmId: enum ib_cm_event_type.
struct CmEvent {
  enum class Kind {
    kReqError,     // no REP came
    kRep,          // a REP came
    kRepError,     // no RTU came
    kRtu,          // an RTU came
    kEstablished,  // NotifyEstablished() was called
    kRej,
    kDreq,
    kDrep,
    kDreqError,  // no DREP came
    kTimewaitExit,
    kSidrReqError,  // no SIDR_REP came
    kSidrRep,
  };
  Kind kind{};
  std::vector<std::byte> private_data{};  // all room of the message
  CmReply reply{};               // kRep: the peer's values, as in the message
  uint16_t reason = 0;           // kRej
  SidrReply sidr{};              // kSidrRep
  mad::AddressVector address{};  // kSidrRep: where the answer came from
};

class CmId;

// The owner of a CmId.  It may send and destroy the id, any id, in the call.
// Events are never told before the call of a CmId that caused them returned.
class CmIdOwner {
 public:
  virtual void OnCmEvent(CmId& id, const CmEvent& event) = 0;

 protected:
  ~CmIdOwner() = default;
};

// A request that arrived: a REQ, or a SIDR_REQ.
struct Arrived {
  bool sidr = false;
  int port = 0;  // where it came in
  uint64_t service_id = 0;
  CmRequest request{};   // REQ: the peer's values, as in the message
  wire::Guid peer_ca{};  // REQ
  uint16_t pkey = 0;
  wire::Gid local_gid{};      // REQ: its primary remote GID
  mad::PathRecord path{};     // REQ: the primary path, seen from here
  mad::AddressVector from{};  // where the MAD came from
  std::vector<std::byte> private_data{};  // 92 or 216 bytes
};

// A CmId goes through the states of IBA vol 1 §12.9.7; what Linux's
// ib_cm_*() do stands in drivers/infiniband/core/cm.c.
//
// Destroying it does what ib_destroy_cm_id() does: it rejects or disconnects
// what is under way, once.  To a peer that asks later, the connection is
// unknown: what would be left of its time in TIMEWAIT nobody could see.
class CmId {
 public:
  virtual ~CmId() = default;

  virtual void SetOwner(CmIdOwner& owner) = 0;

  // The state of its connection or of its service ID resolution.
  virtual State state() const = 0;

  // Each message may be sent in the states that IBA names.
  // Errors: InvalidArgument, in another state, or private data too long;
  // Unavailable, the device is gone.
  virtual absl::Status SendReq(const CmRequest& request) = 0;
  virtual absl::Status SendRep(const CmReply& reply) = 0;
  virtual absl::Status SendRtu(std::span<const std::byte> private_data) = 0;
  virtual absl::Status SendRej(RejectReason reason,
                               std::span<const std::byte> ari,
                               std::span<const std::byte> private_data) = 0;
  virtual absl::Status SendDreq(std::span<const std::byte> private_data) = 0;
  virtual absl::Status SendDrep(std::span<const std::byte> private_data) = 0;
  // A duplicate of the request or reply that came will be answered by an MRA
  // (ib_prepare_cm_mra()): the owner may take its time.
  virtual absl::Status PrepareMra() = 0;
  virtual absl::Status SendSidrReq(const SidrRequest& request) = 0;
  virtual absl::Status SendSidrRep(const SidrReply& reply) = 0;

  // The first message came over the connection: REP_SENT becomes ESTABLISHED
  // (ib_cm_notify(), IB_EVENT_COMM_EST).
  // Errors: AlreadyExists if it is established, InvalidArgument.
  virtual absl::Status NotifyEstablished() = 0;
  // The queue pair has moved to an alternate path (ib_cm_notify(),
  // IB_EVENT_PATH_MIG).  Messages keep to the path that they take: an alternate
  // one was not agreed on.
  // Errors: InvalidArgument, unless it is established.
  virtual absl::Status NotifyMigrated() = 0;

  // The attributes with which the queue pair is to be modified to `state`
  // (ib_cm_init_qp_attr()): qp_attr_mask and the fields that it names.
  // `ack_timeout`: instead of the computed timeout
  // (RDMA_OPTION_ID_ACK_TIMEOUT). Errors: InvalidArgument, in another state.
  virtual absl::StatusOr<verbs::QpAttributes> QpAttributesFor(
      verbs::QpState state, std::optional<uint8_t> ack_timeout) const = 0;

  // Ends it without a message: a request that nobody has room for.
  virtual void Ignore() = 0;
};

}  // namespace ibemu::cm

#endif  // IBEMU_CM_CM_ID_H_
