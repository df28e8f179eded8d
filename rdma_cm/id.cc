#include "rdma_cm/id.h"

#include <algorithm>
#include <utility>

#include "rdma_cm/address_attributes.h"
#include "rdma_cm/values/cm_events.h"
#include "rdma_cm/values/ip_header.h"
#include "rdma_cm/values/path_question.h"
#include "rdma_cm/values/refusal_of.h"
#include "rdma_cm/values/status_of.h"
#include "wire/psn.h"

namespace ibemu::rdma_cm {
namespace {

constexpr uint8_t kMaxRetries = 7;

// Numbers of enum ib_qp_type.
constexpr uint8_t kRc = static_cast<uint8_t>(verbs::QpType::kRc);
constexpr uint8_t kUc = static_cast<uint8_t>(verbs::QpType::kUc);
constexpr uint8_t kXrcInitiator = 9;

}  // namespace

Id::Id(ViewParts& parts, PortSpace space, uint8_t qp_type)
    : parts_(parts),
      space_(space),
      qp_type_(qp_type),
      address_(parts, space),
      starting_psn_(static_cast<uint32_t>(parts.random.Next()) &
                    wire::kPsnMask) {}

Id::Id(const Id& listener, LocalPort port, std::unique_ptr<cm::CmId> cm_id,
       const cm::Arrived& arrived, const RequestAddresses& addresses)
    : Id(listener.parts_, listener.space_,
         static_cast<uint8_t>(arrived.sidr ? verbs::QpType::kUd
                                           : arrived.request.qp_type)) {
  state_ = State::kConnect;
  was_asked_ = true;
  if (!arrived.sidr) {
    path_ = arrived.path;
    remote_gid_ = arrived.path.dgid;
    remote_qp_num_ = arrived.request.qpn;
  }
  address_.TakeOfRequest(std::move(port), arrived, addresses);
  cm_id_ = std::move(cm_id);
  cm_id_->SetOwner(*this);
  listed_.emplace(address_.port()->adapter->ids(), *this);
}

Id::~Id() {
  if (state_ == State::kConnect) {
    if (const auto news = NewsOfEnd(cm_state())) Report(*news);
  }
}

// ----- The address

Refusal Id::Bind(const SocketAddress& address, bool low_ports) {
  if (state_ != State::kIdle) return Refusal::kInvalid;
  const Refusal refusal = address_.Bind(address, low_ports);
  if (refusal == Refusal::kNone) state_ = State::kAddressBound;
  return refusal;
}

Refusal Id::ResolveAddress(const SocketAddress& source,
                           const SocketAddress& destination,
                           absl::Duration timeout, bool low_ports) {
  if (state_ != State::kAddressBound) {
    SocketAddress from = source;
    if (source.family == Family::kNone) {
      from = SocketAddress::Wildcard(destination.family);
      from.pkey = destination.pkey;
      from.scope_id = destination.scope_id;
    }
    const Refusal refusal = Bind(from, low_ports);
    if (refusal != Refusal::kNone) return refusal;
  }
  if (address_.source().family != destination.family) return Refusal::kInvalid;
  state_ = State::kAddressQuery;
  const Refusal refusal = address_.Resolve(
      destination, timeout,
      [this](const absl::StatusOr<wire::Gid>& gid) { OnAddress(gid); });
  if (refusal != Refusal::kNone) state_ = State::kAddressBound;
  return refusal;
}

void Id::OnAddress(const absl::StatusOr<wire::Gid>& gid) {
  if (!gid.ok()) {
    state_ = State::kAddressBound;
    Report({.state = ConnectionNews::State::kNoAddress,
            .status = StatusOf(gid.status())});
    return Tell(
        {.type = EventType::kAddressError, .status = StatusOf(gid.status())});
  }
  remote_gid_ = *gid;
  state_ = State::kAddressResolved;
  Tell({.type = EventType::kAddressResolved});
}

// ----- The route

Refusal Id::ResolveRoute(absl::Duration timeout) {
  constexpr int kRetries = 10;
  if (timeout <= absl::ZeroDuration() || state_ != State::kAddressResolved) {
    return Refusal::kInvalid;
  }
  if (port()->port().Info().master_sm_lid == wire::Lid::kUnassigned) {
    return Refusal::kTryAgain;
  }
  const PathQuestion question =
      PathQuestion::For(source(), {.dgid = remote_gid_,
                                   .sgid = port()->gid,
                                   .pkey = port()->pkey,
                                   .service_id = ServiceIdOf(destination()),
                                   .type_of_service = type_of_service_});
  state_ = State::kRouteQuery;
  query_ = port()->sa().GetPath(
      question.record, question.mask,
      {.timeout = timeout / kRetries, .retries = kRetries},
      [this](const absl::StatusOr<mad::PathRecord>& path) { OnPath(path); });
  return Refusal::kNone;
}

void Id::OnPath(const absl::StatusOr<mad::PathRecord>& path) {
  const auto query = std::move(query_);
  if (!path.ok()) {
    state_ = State::kAddressResolved;
    Report({.state = ConnectionNews::State::kNoPath,
            .status = StatusOf(path.status())});
    return Tell(
        {.type = EventType::kRouteError, .status = StatusOf(path.status())});
  }
  path_ = *path;
  state_ = State::kRouteResolved;
  Tell({.type = EventType::kRouteResolved});
}

Refusal Id::SetPath(const mad::PathRecord& path) {
  if (!port() || state_ != State::kAddressResolved) return Refusal::kInvalid;
  path_ = path;
  state_ = State::kRouteResolved;
  Tell({.type = EventType::kRouteResolved});
  return Refusal::kNone;
}

// ----- The connection

Refusal Id::Connect(const ConnectionParameters& parameters,
                    const cm::Ece& ece) {
  if (state_ != State::kRouteResolved) return Refusal::kInvalid;
  qp_num_ = parameters.qp_num;
  srq_ = parameters.srq;
  ece_ = ece;
  state_ = State::kConnect;
  cm_id_ = port()->adapter->cm().Create(static_cast<cm::CmIdOwner&>(*this));
  const Refusal refusal =
      is_datagram() ? SendSidrRequest(parameters) : SendRequest(parameters);
  if (refusal != Refusal::kNone) {
    cm_id_.reset();
    state_ = State::kRouteResolved;
    return refusal;
  }
  listed_.emplace(port()->adapter->ids(), *this);
  Report({.state = ConnectionNews::State::kAsked});
  return Refusal::kNone;
}

// No device here has XRC, so nobody has a queue pair for it.
Refusal Id::SendRequest(const ConnectionParameters& parameters) {
  if (qp_type_ != kRc && qp_type_ != kUc) return Refusal::kInvalid;
  return RefusalOf(cm_id_->SendReq(
      {.path = *path_,
       .service_id = ServiceIdOf(destination()),
       .qp_type = verbs::QpType{qp_type_},
       .qpn = qp_num_,
       .starting_psn = starting_psn_,
       .responder_resources = parameters.responder_resources,
       .initiator_depth = parameters.initiator_depth,
       .flow_control = parameters.flow_control != 0,
       .retry_count = std::min(parameters.retry_count, kMaxRetries),
       .rnr_retry_count = std::min(parameters.rnr_retry_count, kMaxRetries),
       .srq = srq_,
       .ece = ece_,
       .private_data =
           WithIpHeader(source(), destination(), parameters.private_data)}));
}

Refusal Id::SendSidrRequest(const ConnectionParameters& parameters) {
  return RefusalOf(cm_id_->SendSidrReq(
      {.path = *path_,
       .service_id = ServiceIdOf(destination()),
       .private_data =
           WithIpHeader(source(), destination(), parameters.private_data)}));
}

Refusal Id::Listen() {
  if (state_ == State::kIdle) {
    const Refusal refusal =
        Bind(SocketAddress::Wildcard(Family::kIpv4), /*low_ports=*/false);
    if (refusal != Refusal::kNone) return refusal;
  }
  if (state_ != State::kAddressBound) return Refusal::kInvalid;
  const Refusal refusal = address_.TakeAlone();
  if (refusal != Refusal::kNone) return refusal;
  auto listener = std::make_unique<Listener>(
      *this,
      Listener::Terms{.service_id = ServiceIdOf(source()),
                      .address = source(),
                      .only_family = address_.claim().only_family,
                      .qp_type = qp_type_,
                      .port = port() ? port()->number : 0},
      [this](const std::shared_ptr<Adapter>& adapter,
             std::unique_ptr<cm::CmId> id, const cm::Arrived& arrived,
             const RequestAddresses& addresses) {
        OnRequest(adapter, std::move(id), arrived, addresses);
      });
  for (const std::shared_ptr<Adapter>& adapter : address_.adapters()) {
    const Refusal refusal = listener->Add(adapter);
    if (refusal != Refusal::kNone) return refusal;
  }
  listener_ = std::move(listener);
  state_ = State::kListen;
  return Refusal::kNone;
}

void Id::OnRequest(const std::shared_ptr<Adapter>& adapter,
                   std::unique_ptr<cm::CmId> cm_id, const cm::Arrived& arrived,
                   const RequestAddresses& addresses) {
  if (!owner_->HasRoom()) {
    // A REQ will come again; a SIDR_REQ is rejected.
    if (!arrived.sidr) cm_id->Ignore();
    return;
  }
  LocalPort port{.adapter = adapter, .number = arrived.port};
  port.interface =
      adapter->interface(arrived.port, arrived.pkey, addresses.destination);
  port.gid = !arrived.sidr               ? arrived.local_gid
             : port.interface != nullptr ? port.interface->gid()
                                         : port.port().GidAt(0);
  port.pkey = arrived.pkey;
  std::vector<std::byte> data = WithoutIpHeader(source(), arrived.private_data);
  Event event = arrived.sidr ? EventOfSidrRequest(std::move(data))
                             : EventOfRequest(arrived.request, std::move(data));
  if (!arrived.sidr) (void)cm_id->PrepareMra();
  owner_->OnRequest(
      std::unique_ptr<Id>(
          new Id(*this, std::move(port), std::move(cm_id), arrived, addresses)),
      std::move(event));
}

Refusal Id::Accept(const ConnectionParameters& parameters, const cm::Ece& ece) {
  if (state_ != State::kConnect) return Refusal::kInvalid;
  ece_ = ece;
  qp_num_ = parameters.qp_num;
  srq_ = parameters.srq;
  const Refusal refusal =
      is_datagram() ? SendSidrReply(cm::SidrStatus::kSuccess, parameters.qkey,
                                    parameters.private_data)
                    : SendReply(parameters);
  if (refusal != Refusal::kNone) {
    (void)Reject(cm::RejectReason::kConsumerDefined, {});
  }
  return refusal;
}

Refusal Id::SendReply(const ConnectionParameters& parameters) {
  return RefusalOf(cm_id_->SendRep(
      {.qpn = qp_num_,
       .starting_psn = starting_psn_,
       .responder_resources = parameters.responder_resources,
       .initiator_depth = parameters.initiator_depth,
       .flow_control = parameters.flow_control != 0,
       .rnr_retry_count = std::min(parameters.rnr_retry_count, kMaxRetries),
       .srq = srq_,
       .ece = ece_,
       .private_data = parameters.private_data}));
}

Refusal Id::SendSidrReply(cm::SidrStatus status, uint32_t qkey,
                          std::span<const std::byte> private_data) {
  cm::SidrReply reply{
      .status = status,
      .ece = ece_,
      .private_data = {private_data.begin(), private_data.end()}};
  if (status == cm::SidrStatus::kSuccess) {
    const Refusal refusal =
        qkey != 0 ? q_key_.Set(qkey) : q_key_.SetDefault(space_, *port());
    if (refusal != Refusal::kNone) return refusal;
    reply.qpn = qp_num_;
    reply.qkey = q_key_.value();
  }
  const Refusal refusal = RefusalOf(cm_id_->SendSidrRep(reply));
  if (refusal == Refusal::kNone) {
    Report({.state = status == cm::SidrStatus::kSuccess
                         ? ConnectionNews::State::kEstablished
                         : ConnectionNews::State::kRejected,
            .reason = static_cast<uint16_t>(status)});
  }
  return refusal;
}

Refusal Id::Establish() {
  if (state_ != State::kConnect) return Refusal::kInvalid;
  const Refusal refusal = is_datagram()
                              ? SendSidrReply(cm::SidrStatus::kSuccess, 0, {})
                              : RefusalOf(cm_id_->SendRtu({}));
  if (refusal != Refusal::kNone) {
    (void)Reject(cm::RejectReason::kConsumerDefined, {});
  } else if (!is_datagram()) {
    Report({.state = ConnectionNews::State::kEstablished});
  }
  return refusal;
}

Refusal Id::Reject(cm::RejectReason reason,
                   std::span<const std::byte> private_data) {
  if (cm_id_ == nullptr) return Refusal::kInvalid;
  if (is_datagram()) {
    return SendSidrReply(cm::SidrStatus::kReject, 0, private_data);
  }
  const Refusal refusal = RefusalOf(cm_id_->SendRej(reason, {}, private_data));
  if (refusal == Refusal::kNone) {
    Report({.state = ConnectionNews::State::kRejected,
            .reason = static_cast<uint16_t>(reason)});
  }
  return refusal;
}

Refusal Id::Disconnect() {
  if (cm_id_ == nullptr) return Refusal::kInvalid;
  if (cm_id_->SendDreq({}).ok()) {
    has_disconnected_ = true;
    Report({.state = ConnectionNews::State::kDisconnected});
  } else {
    (void)cm_id_->SendDrep({});
  }
  return Refusal::kNone;
}

Refusal Id::NotifyEstablished() {
  if (cm_id_ == nullptr) return Refusal::kInvalid;
  return RefusalOf(cm_id_->NotifyEstablished());
}

Refusal Id::NotifyMigrated() {
  if (cm_id_ == nullptr) return Refusal::kInvalid;
  return RefusalOf(cm_id_->NotifyMigrated());
}

void Id::OnCmEvent(cm::CmId& /*id*/, const cm::CmEvent& event) {
  using Kind = cm::CmEvent::Kind;
  const bool is_late = event.kind == Kind::kTimewaitExit;
  if (state_ != (is_late ? State::kDisconnect : State::kConnect)) return;
  if (const auto news = NewsOf(event, has_disconnected_)) Report(*news);
  switch (event.kind) {
    case Kind::kSidrRep:
      return Tell(OnSidrReply(event));
    case Kind::kRep:
      remote_qp_num_ = event.reply.qpn;
      (void)cm_id_->PrepareMra();
      break;
    case Kind::kDreq:
    case Kind::kDrep:
    case Kind::kDreqError:
      state_ = State::kDisconnect;
      break;
    default:
      break;
  }
  Tell(EventOfConnection(event));
}

Event Id::OnSidrReply(const cm::CmEvent& event) {
  const cm::SidrReply& reply = event.sidr;
  DatagramParameters parameters{.private_data = event.private_data};
  if (reply.status != cm::SidrStatus::kSuccess) {
    return {.type = EventType::kUnreachable,
            .status = static_cast<int>(reply.status),
            .parameters = std::move(parameters)};
  }
  if (q_key_.Set(reply.qkey) != Refusal::kNone) {
    return {.type = EventType::kAddressError,
            .status = event_status::kInvalid,
            .parameters = std::move(parameters)};
  }
  remote_qp_num_ = reply.qpn;
  parameters.qp_num = reply.qpn;
  parameters.qkey = reply.qkey;
  parameters.address = AddressOf(*port(), *path_);
  return {.type = EventType::kEstablished,
          .parameters = std::move(parameters),
          .ece = reply.ece};
}

// ----- The queue pair

Outcome<verbs::QpAttributes> Id::QpAttributesFor(verbs::QpState state) {
  namespace bits = verbs::qp_attribute;
  verbs::QpAttributes attributes{};
  if (cm_id_ != nullptr && !is_datagram()) {
    const auto answer = cm_id_->QpAttributesFor(state, ack_timeout_);
    if (!answer.ok()) return RefusalOf(answer.status());
    attributes = *answer;
    if (state == verbs::QpState::kReadyToReceive) {
      attributes.rq_psn = starting_psn_;
    }
  } else {
    const std::optional<uint16_t> index = port()->PKeyIndex();
    if (!index) return Refusal::kNoSuchId;
    attributes.qp_attr_mask = bits::kState | bits::kPKeyIndex | bits::kPort;
    attributes.pkey_index = *index;
    attributes.port_num = static_cast<uint8_t>(port()->number);
    if (is_datagram()) {
      const Refusal refusal = q_key_.SetDefault(space_, *port());
      if (refusal != Refusal::kNone) return refusal;
      attributes.qp_attr_mask |= bits::kQKey;
      attributes.qkey = q_key_.value();
    } else {
      attributes.qp_attr_mask |= bits::kAccessFlags;
    }
  }
  attributes.qp_state = static_cast<uint32_t>(state);
  return attributes;
}

Outcome<std::unique_ptr<MulticastJoin>> Id::Join(
    const SocketAddress& group, uint8_t join_state,
    std::function<void(Event)> told) {
  if (state_ != State::kAddressBound && state_ != State::kAddressResolved) {
    return Refusal::kInvalid;
  }
  if (!is_datagram()) return Refusal::kInvalid;
  const ipoib::Interface* const interface = port()->interface;
  if (interface == nullptr || interface->broadcast_group() == nullptr) {
    return Refusal::kNoSuchAddress;
  }
  const Refusal refusal = q_key_.SetDefault(space_, *port());
  if (refusal != Refusal::kNone) return refusal;
  return std::make_unique<MulticastJoin>(
      *port(), *interface->broadcast_group(),
      MulticastJoin::Terms{.group = group,
                           .join_state = join_state,
                           .qkey = q_key_.value(),
                           .space = space_},
      std::move(told));
}

// ----- Options

Refusal Id::SetReuseAddress(bool value) {
  if (state_ != State::kIdle && (!value || state_ == State::kListen)) {
    return Refusal::kInvalid;
  }
  address_.SetReuseAddress(value);
  return Refusal::kNone;
}

Refusal Id::SetOnlyFamily(bool value) {
  if (state_ != State::kIdle && state_ != State::kAddressBound) {
    return Refusal::kInvalid;
  }
  address_.SetOnlyFamily(value);
  return Refusal::kNone;
}

Refusal Id::SetAckTimeout(uint8_t value) {
  if (qp_type_ != kRc && qp_type_ != kXrcInitiator) return Refusal::kInvalid;
  ack_timeout_ = value;
  return Refusal::kNone;
}

// ----- Adapters

void Id::OnAdapterAdded(const std::shared_ptr<Adapter>& adapter) {
  if (!address_.OnAdapterAdded(adapter)) return;
  if (listener_ != nullptr) (void)listener_->Add(adapter);
}

bool Id::OnAdapterRemoved(const std::shared_ptr<Adapter>& adapter) {
  if (address_.OnAdapterRemoved(adapter)) return true;
  if (listener_ != nullptr) listener_->Remove(adapter);
  return false;
}

// ----- Who is told

void Id::Tell(Event event) { owner_->OnEvent(std::move(event)); }

void Id::Report(const ConnectionNews& news) const {
  if (!port()) return;
  ConnectionWatcher* const watcher = port()->adapter->ids().watcher();
  if (watcher != nullptr) watcher->OnConnection(*this, news);
}

}  // namespace ibemu::rdma_cm
