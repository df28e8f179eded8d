// Connection: the state machine of one end of a connection.
#ifndef IBEMU_CM_CONNECTION_H_
#define IBEMU_CM_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cm/cm_id.h"
#include "cm/connected_qp.h"
#include "cm/local_end.h"
#include "cm/outstanding.h"
#include "cm/peer.h"
#include "cm/route.h"
#include "cm/sending.h"
#include "cm/state.h"
#include "cm/wire/connection_messages.h"
#include "cm/wire/req.h"
#include "mad/address.h"
#include "mad/wire/mad_header.h"
#include "verbs/qp_attributes.h"
#include "wire/types.h"

namespace ibemu::cm {

// A Connection is a value: calls, messages and the time go in; messages to
// send, events and a deadline come out.  It knows no port and no other
// connection: ManagerCore does, which also finds the Connection that a message
// is for.
//
// The calls return what is to be sent, or InvalidArgument in a state in which
// Linux's ib_send_cm_*() return EINVAL, or if private data are too long.
class Connection {
 public:
  explicit Connection(const LocalEnd& local) : local_(local) {}

  State state() const { return state_; }
  const Route& route() const { return qp_.route; }
  uint32_t remote_comm_id() const { return remote_comm_id_; }  // 0: none yet

  // Returns the other end while the connection counts as one: neither before
  // it is known nor in TIMEWAIT.
  std::optional<Peer> peer() const;

  // Returns true while a REP is awaited.
  bool AwaitsRep() const;

  // When OnTimer() is to be called, if at all.
  std::optional<absl::Time> deadline() const;

  // The calls of its owner.
  absl::StatusOr<Sending> SendReq(absl::Time now, const CmRequest& request,
                                  const Route& route);
  absl::StatusOr<Sending> SendRep(absl::Time now, const CmReply& reply);
  absl::StatusOr<Sending> SendRtu(std::span<const std::byte> private_data);
  absl::StatusOr<Sending> SendRej(absl::Time now, RejectReason reason,
                                  std::span<const std::byte> info,
                                  std::span<const std::byte> private_data);
  absl::StatusOr<Sending> SendDreq(absl::Time now,
                                   std::span<const std::byte> private_data);
  absl::StatusOr<Sending> SendDrep(absl::Time now,
                                   std::span<const std::byte> private_data);
  absl::Status PrepareMra();
  // Errors: AlreadyExists, it is established; InvalidArgument.
  absl::Status NotifyEstablished();
  // Errors: InvalidArgument, unless it is established.
  absl::Status NotifyMigrated() const;
  absl::StatusOr<verbs::QpAttributes> QpAttributesFor(
      verbs::QpState state, std::optional<uint8_t> ack_timeout) const;
  // Ends it in whatever state it is.  Returns what tells the peer.
  std::optional<Sending> Destroy(absl::Time now);
  // Ends it, and the peer may try again.
  void Ignore() { GoIdle(); }

  // Takes the REQ that made it.  Requires kIdle.  `route` is the way back.
  void OnReq(const mad::MadHeader& header, const Req& req, const Route& route);

  // The messages for it.  OnRep(): the first one, while AwaitsRep().
  Step OnDuplicateReq();
  Step OnRep(const mad::MadHeader& header, const Rep& rep);
  Step OnDuplicateRep();
  Step OnMra(absl::Time now, const Mra& mra);
  Step OnRtu(const Rtu& rtu);
  Step OnRej(absl::Time now, const Rej& rej);
  Step OnDreq(const mad::MadHeader& header, const Dreq& dreq);
  Step OnDrep(absl::Time now, const Drep& drep);

  Step OnTimer(absl::Time now);

 private:
  Sending Start(absl::Time now, const Sending& sending);
  Sending MakeMra(About about) const;
  Sending MakeRtu(Sending::Kind kind) const;
  Sending MakeRej(RejectReason reason, std::span<const std::byte> info,
                  std::span<const std::byte> private_data) const;
  Sending MakeDrep(Sending::Kind kind, uint64_t tid) const;
  void GoIdle();
  void EnterTimewait(absl::Time now);
  uint64_t OwnTid() const;

  LocalEnd local_;
  State state_ = State::kIdle;
  uint64_t tid_ = 0;  // of the messages that are no requests
  uint32_t remote_comm_id_ = 0;
  wire::Guid remote_ca_{};
  bool alternate_path_asked_ = false;
  ConnectedQp qp_{};
  absl::Duration response_timeout_ = absl::ZeroDuration();
  int max_retries_ = 0;
  // Those of the RTU or DREP, which a duplicate gets, too.
  std::vector<std::byte> private_data_;
  std::optional<Outstanding> outstanding_;
  std::optional<absl::Time> timewait_end_;
};

}  // namespace ibemu::cm

#endif  // IBEMU_CM_CONNECTION_H_
