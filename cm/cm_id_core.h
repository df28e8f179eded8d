// CmIdCore: the implementation of CmId.
#ifndef IBEMU_CM_CM_ID_CORE_H_
#define IBEMU_CM_CM_ID_CORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/timers.h"
#include "cm/cm_id.h"
#include "cm/connection.h"
#include "cm/peer_table.h"
#include "cm/route.h"
#include "cm/sending.h"
#include "cm/service_resolution.h"
#include "mad/agent.h"

namespace ibemu::cm {

class CmPort;
class ManagerCore;

// A CmIdCore holds the two state machines that a communication ID may be used
// for, one at a time; it does what they say, and runs their timer.
class CmIdCore final : public CmId {
 public:
  // Enters the tables of `manager`, which must outlive it.  `owner`: may be
  // null while there are no events, see SetOwner().
  CmIdCore(ManagerCore& manager, CmIdOwner* owner, const LocalEnd& local);
  ~CmIdCore() override;
  CmIdCore(const CmIdCore&) = delete;
  CmIdCore& operator=(const CmIdCore&) = delete;

  uint32_t comm_id() const { return comm_id_; }
  Connection& connection() { return connection_; }
  ServiceResolution& resolution() { return resolution_; }

  void SetOwner(CmIdOwner& owner) override { owner_ = &owner; }
  State state() const override {
    return resolution_.state() != State::kIdle ? resolution_.state()
                                               : connection_.state();
  }
  absl::Status SendReq(const CmRequest& request) override;
  absl::Status SendRep(const CmReply& reply) override;
  absl::Status SendRtu(std::span<const std::byte> private_data) override;
  absl::Status SendRej(RejectReason reason, std::span<const std::byte> ari,
                       std::span<const std::byte> private_data) override;
  absl::Status SendDreq(std::span<const std::byte> private_data) override;
  absl::Status SendDrep(std::span<const std::byte> private_data) override;
  absl::Status PrepareMra() override { return connection_.PrepareMra(); }
  absl::Status SendSidrReq(const SidrRequest& request) override;
  absl::Status SendSidrRep(const SidrReply& reply) override;
  absl::Status NotifyEstablished() override;
  absl::Status NotifyMigrated() override {
    return connection_.NotifyMigrated();
  }
  absl::StatusOr<verbs::QpAttributes> QpAttributesFor(
      verbs::QpState state, std::optional<uint8_t> ack_timeout) const override {
    return connection_.QpAttributesFor(state, ack_timeout);
  }
  void Ignore() override;

  // Disconnects the connection, whose peer has forgotten it.
  void DisconnectStale() { SendDreq({}).IgnoreError(); }

  // Does what a state machine said when `mad` arrived at `port`.  May destroy
  // this.
  void Do(const Step& step, CmPort& port, Message which,
          const mad::IncomingMessage& mad);

  // Takes the request that made it.  `route`: the way back.
  void Take(const mad::MadHeader& header, const Req& req, const Route& route);
  void Take(const mad::MadHeader& header, const SidrReq& req,
            const Route& route);

 private:
  // Sends what a call returned, by `route`, if the device is there.
  absl::Status Send(const absl::StatusOr<Sending>& sending, const Route& route);
  // Enters what a state machine now says in tables and timers.
  void Update();
  void UpdateTimer();
  void OnTimer();
  void Tell(const CmEvent& event);

  ManagerCore& manager_;
  CmIdOwner* owner_;
  uint32_t comm_id_;
  Connection connection_;
  ServiceResolution resolution_;
  PeerTable::Entry entry_;  // in the table of peers
  std::optional<absl::Time> armed_;
  TimerId timer_ = TimerId::kNone;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace ibemu::cm

#endif  // IBEMU_CM_CM_ID_CORE_H_
