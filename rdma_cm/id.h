// Id: an rdma_cm_id: an address, and one connection, service or group.
#ifndef IBEMU_RDMA_CM_ID_H_
#define IBEMU_RDMA_CM_ID_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/time/time.h"
#include "cm/cm_id.h"
#include "rdma_cm/host/adapter.h"
#include "rdma_cm/host/connection_watcher.h"
#include "rdma_cm/host/id_table.h"
#include "rdma_cm/host/local_port.h"
#include "rdma_cm/id_address.h"
#include "rdma_cm/listener.h"
#include "rdma_cm/multicast_join.h"
#include "rdma_cm/q_key.h"
#include "rdma_cm/values/event.h"
#include "rdma_cm/values/outcome.h"
#include "rdma_cm/view_parts.h"
#include "verbs/qp_attributes.h"

namespace ibemu::rdma_cm {

// An Id does what the functions rdma_*() of cma.c do, in the same states.  It
// knows no numbers, no counts of events and no programs: UserId does.
class Id final : private cm::CmIdOwner {
 public:
  // The owner of an id.  It may destroy the id in a call.
  class Owner {
   public:
    virtual void OnEvent(Event event) = 0;
    // Whether a request that came for this id, which listens, can be kept: if
    // not the peer will try again.
    virtual bool HasRoom() = 0;
    // Takes the id of a request, if there is room.
    virtual void OnRequest(std::unique_ptr<Id> id, Event event) = 0;
    // The process that has the id; 0: unknown.
    virtual int process() const = 0;

   protected:
    ~Owner() = default;
  };

  enum class State {
    kIdle,
    kAddressBound,
    kAddressQuery,
    kAddressResolved,
    kRouteQuery,
    kRouteResolved,
    kConnect,
    kListen,
    kDisconnect,
  };

  // `qp_type` is a number of enum ib_qp_type, of which devices need not know
  // all.  REQUIRES: `parts` outlives this.
  Id(ViewParts& parts, PortSpace space, uint8_t qp_type);
  ~Id();
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;

  void SetOwner(Owner& owner) { owner_ = &owner; }

  // Binds to an address.  Who has no `low_ports` may not have those below 1024.
  Refusal Bind(const SocketAddress& address, bool low_ports);

  // Finds the port that leads to `destination`, and the neighbour's GID:
  // kAddressResolved or kAddressError follows.  An id that is not bound yet is
  // bound to `source`, or if that has no family to any address.
  Refusal ResolveAddress(const SocketAddress& source,
                         const SocketAddress& destination,
                         absl::Duration timeout, bool low_ports);

  // Asks for the path: kRouteResolved or kRouteError follows.
  Refusal ResolveRoute(absl::Duration timeout);

  // Takes the path as given: kRouteResolved follows (RDMA_OPTION_IB_PATH).
  Refusal SetPath(const mad::PathRecord& path);

  Refusal Connect(const ConnectionParameters& parameters, const cm::Ece& ece);
  Refusal Listen();
  // Answers the request that made this id.  If that fails it is rejected.
  Refusal Accept(const ConnectionParameters& parameters, const cm::Ece& ece);
  // The active side: its queue pair is ready.
  Refusal Establish();
  Refusal Reject(cm::RejectReason reason,
                 std::span<const std::byte> private_data);
  Refusal Disconnect();
  // The first message came over the queue pair.
  Refusal NotifyEstablished();
  // The queue pair has moved to its alternate path.
  Refusal NotifyMigrated();

  // The attributes with which to modify the queue pair to `state`.
  Outcome<verbs::QpAttributes> QpAttributesFor(verbs::QpState state);

  // Joins a group; `told` gets the events of the join.  The join must not
  // outlive this.
  Outcome<std::unique_ptr<MulticastJoin>> Join(const SocketAddress& group,
                                               uint8_t join_state,
                                               std::function<void(Event)> told);

  // RDMA_OPTION_ID_*.
  void SetTypeOfService(uint8_t value) { type_of_service_ = value; }
  Refusal SetReuseAddress(bool value);
  Refusal SetOnlyFamily(bool value);
  Refusal SetAckTimeout(uint8_t value);

  // An adapter of the view came or went.  Returns true if this id used it, and
  // so must end.
  void OnAdapterAdded(const std::shared_ptr<Adapter>& adapter);
  bool OnAdapterRemoved(const std::shared_ptr<Adapter>& adapter);

  State state() const { return state_; }
  PortSpace space() const { return space_; }
  bool is_datagram() const {
    return qp_type_ == static_cast<uint8_t>(verbs::QpType::kUd);
  }
  const SocketAddress& source() const { return address_.source(); }
  const SocketAddress& destination() const { return address_.destination(); }
  // Empty until an adapter is known.
  const std::optional<LocalPort>& port() const { return address_.port(); }
  const wire::Gid& remote_gid() const { return remote_gid_; }
  const std::optional<mad::PathRecord>& path() const { return path_; }
  // The service ID that an address stands for (rdma_get_service_id()).
  uint64_t ServiceIdOf(const SocketAddress& address) const {
    return address_.ServiceIdOf(address);
  }

  // For who looks at ids from outside.  Whether a request of its peer's made
  // it; the queue pairs of both ends, 0 until they are known; what the
  // communication manager says.
  bool was_asked() const { return was_asked_; }
  uint32_t qp_num() const { return qp_num_; }
  uint32_t remote_qp_num() const { return remote_qp_num_; }
  cm::State cm_state() const {
    return cm_id_ == nullptr ? cm::State::kIdle : cm_id_->state();
  }
  int process() const { return owner_ == nullptr ? 0 : owner_->process(); }

 private:
  // Makes the id of a request that came to `listener`.
  Id(const Id& listener, LocalPort port, std::unique_ptr<cm::CmId> cm_id,
     const cm::Arrived& arrived, const RequestAddresses& addresses);

  void OnCmEvent(cm::CmId& id, const cm::CmEvent& event) override;
  Event OnSidrReply(const cm::CmEvent& event);
  void OnRequest(const std::shared_ptr<Adapter>& adapter,
                 std::unique_ptr<cm::CmId> cm_id, const cm::Arrived& arrived,
                 const RequestAddresses& addresses);

  void OnAddress(const absl::StatusOr<wire::Gid>& gid);
  void OnPath(const absl::StatusOr<mad::PathRecord>& path);
  Refusal SendRequest(const ConnectionParameters& parameters);
  Refusal SendSidrRequest(const ConnectionParameters& parameters);
  Refusal SendSidrReply(cm::SidrStatus status, uint32_t qkey,
                        std::span<const std::byte> private_data);
  Refusal SendReply(const ConnectionParameters& parameters);
  void Tell(Event event);
  // Tells who watches the adapter's ids.
  void Report(const ConnectionNews& news) const;

  ViewParts& parts_;
  const PortSpace space_;
  const uint8_t qp_type_;
  Owner* owner_ = nullptr;
  State state_ = State::kIdle;

  IdAddress address_;
  uint8_t type_of_service_ = 0;
  std::optional<uint8_t> ack_timeout_;

  wire::Gid remote_gid_{};
  std::unique_ptr<mad::SaQuery> query_;
  std::optional<mad::PathRecord> path_;

  bool was_asked_ = false;
  bool has_disconnected_ = false;  // by a call of its owner
  uint32_t qp_num_ = 0;
  uint32_t remote_qp_num_ = 0;
  bool srq_ = false;
  QKey q_key_;
  const uint32_t starting_psn_;
  cm::Ece ece_{};
  std::unique_ptr<cm::CmId> cm_id_;
  std::unique_ptr<Listener> listener_;
  std::optional<IdTable::Entry> listed_;  // while it has a `cm_id_`
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_ID_H_
