#include "cm/manager_core.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "cm/cm_mad.h"
#include "cm/received_req.h"
#include "cm/wire/connection_messages.h"
#include "cm/wire/req.h"
#include "cm/wire/sidr_messages.h"

namespace ibemu::cm {
namespace {

mad::MadHeader HeaderOf(const mad::IncomingMessage& mad) {
  return wire::Decode<mad::MadHeader>(mad.mad);
}

}  // namespace

class ManagerCore::ListeningCore : public Listening {
 public:
  ListeningCore(ManagerCore& manager, uint64_t service_id)
      : manager_(manager), service_id_(service_id) {}
  ~ListeningCore() override { manager_.listeners_.erase(service_id_); }
  ListeningCore(const ListeningCore&) = delete;
  ListeningCore& operator=(const ListeningCore&) = delete;

 private:
  ManagerCore& manager_;
  uint64_t service_id_;
};

ManagerCore::ManagerCore(Timers& timers, std::shared_ptr<mad::Host> host,
                         Random random, uint8_t local_ca_ack_delay)
    : timers_(timers),
      host_(std::move(host)),
      ca_ack_delay_(local_ca_ack_delay),
      comm_id_mask_(static_cast<uint32_t>(random.Next())) {
  const mad::Device& device = host_->device();
  CmPort::Receiver& receiver = *this;
  for (int n = device.first_port(); n <= device.last_port(); ++n) {
    ports_.push_back(std::make_unique<CmPort>(*host_, n, receiver));
  }
}

// Numbers in turn, which differ between hosts and starts: cm_alloc_id().
uint32_t ManagerCore::NewCommId() {
  uint32_t comm_id = 0;
  do {
    comm_id = ++last_comm_id_ ^ comm_id_mask_;
  } while (comm_id == 0 || ids_.contains(comm_id));
  return comm_id;
}

std::unique_ptr<CmIdCore> ManagerCore::Create(CmIdOwner* owner) {
  return std::make_unique<CmIdCore>(
      *this, owner,
      LocalEnd{.comm_id = NewCommId(),
               .ca_guid = host_->device().node_guid(),
               .ca_ack_delay = ca_ack_delay_});
}

absl::StatusOr<std::unique_ptr<Listening>> ManagerCore::Listen(
    uint64_t service_id, CmListener& listener) {
  if (!listeners_.emplace(service_id, &listener).second) {
    return absl::AlreadyExistsError(
        absl::StrFormat("somebody listens for service ID 0x%016x", service_id));
  }
  return std::make_unique<ListeningCore>(*this, service_id);
}

const CmCounters& ManagerCore::counters(int port) const {
  return this->port(port).counters();
}

absl::Status ManagerCore::CheckPresent() const {
  if (host_->removed()) return absl::UnavailableError("the device is gone");
  return absl::OkStatus();
}

absl::StatusOr<Route> ManagerCore::RouteTo(const mad::PathRecord& path) const {
  IBEMU_RETURN_IF_ERROR(CheckPresent());
  IBEMU_ASSIGN_OR_RETURN(Route route, RouteOf(host_->device(), path));
  const CmPort& out = port(route.port);
  if (!out.usable()) {
    return absl::UnavailableError(absl::StrFormat(
        "another agent has the connection management of port %d", route.port));
  }
  route.high_tid = out.high_tid();
  return route;
}

void ManagerCore::Send(const Sending& sending, const Route& route) {
  port(route.port).Send(sending, route.to);
}

CmPort& ManagerCore::port(int number) const {
  return *ports_[static_cast<size_t>(number - host_->device().first_port())];
}

CmIdCore* ManagerCore::Find(uint32_t local, uint32_t remote) const {
  const auto found = ids_.find(local);
  if (found == ids_.end()) return nullptr;
  const bool is_it = found->second->connection().remote_comm_id() == remote;
  return is_it ? found->second : nullptr;
}

// --- Messages.

void ManagerCore::OnCmMad(CmPort& port, Message which,
                          const mad::IncomingMessage& mad) {
  switch (which) {
    case Message::kReq:
      return OnReq(port, mad);
    case Message::kMra:
      return OnMra(port, mad);
    case Message::kRej:
      return OnRej(port, mad);
    case Message::kRep:
      return OnRep(port, mad);
    case Message::kRtu:
      return OnRtu(port, mad);
    case Message::kDreq:
      return OnDreq(port, mad);
    case Message::kDrep:
      return OnDrep(port, mad);
    case Message::kSidrReq:
      return OnSidrReq(port, mad);
    case Message::kSidrRep:
      return OnSidrRep(port, mad);
    case Message::kLap:
    case Message::kApr:
      return;  // Linux takes a LAP and never answers it
  }
}

void ManagerCore::Reject(CmPort& port, const mad::IncomingMessage& mad,
                         const Rej& rej) {
  port.Send({.message = Message::kRej,
             .kind = Sending::Kind::kResponse,
             .mad = MakeMad(rej, HeaderOf(mad).tid)},
            ReplyTo(mad));
}

void ManagerCore::OnReq(CmPort& port, const mad::IncomingMessage& mad) {
  const mad::Port& here = host_->device().port(port.number());
  const Req req = ReceivedReq(mad, here.Info().lid);
  if (CmIdCore* known =
          peers_.WithCommId(req.local_ca_guid, req.local_comm_id)) {
    return known->Do(known->connection().OnDuplicateReq(), port, Message::kReq,
                     mad);
  }
  Rej rej{.remote_comm_id = req.local_comm_id, .message_rejected = About::kReq};
  if (CmIdCore* stale = peers_.WithQpn(req.local_ca_guid, req.local_qpn)) {
    rej.reason = static_cast<uint16_t>(RejectReason::kStaleConnection);
    Reject(port, mad, rej);
    return stale->DisconnectStale();
  }
  const auto listener = listeners_.find(req.service_id);
  if (listener == listeners_.end()) {
    rej.reason = static_cast<uint16_t>(RejectReason::kInvalidServiceId);
    return Reject(port, mad, rej);
  }
  const absl::StatusOr<Route> route = RouteTo(PathOf(req, mad));
  if (!route.ok()) {
    rej.reason = static_cast<uint16_t>(RejectReason::kInvalidGid);
    rej.info_length = wire::kBytes<wire::Gid>;
    wire::Encode(here.GidAt(0), rej.info);
    return Reject(port, mad, rej);
  }
  std::unique_ptr<CmIdCore> id = Create(nullptr);
  id->Take(HeaderOf(mad), req, *route);
  listener->second->OnRequest(std::move(id),
                              ArrivedOf(req, port.number(), mad));
}

void ManagerCore::OnRep(CmPort& port, const mad::IncomingMessage& mad) {
  const auto rep = BodyOf<Rep>(mad.mad);
  CmIdCore* id = Find(rep.remote_comm_id, 0);
  if (id == nullptr) {
    id = Find(rep.remote_comm_id, rep.local_comm_id);
    if (id == nullptr) return;
    return id->Do(id->connection().OnDuplicateRep(), port, Message::kRep, mad);
  }
  if (!id->connection().AwaitsRep()) return;
  if (peers_.WithCommId(rep.local_ca_guid, rep.local_comm_id) != nullptr) {
    return;
  }
  if (CmIdCore* stale = peers_.WithQpn(rep.local_ca_guid, rep.local_qpn)) {
    Reject(port, mad,
           {.local_comm_id = rep.remote_comm_id,
            .remote_comm_id = rep.local_comm_id,
            .message_rejected = About::kRep,
            .reason = static_cast<uint16_t>(RejectReason::kStaleConnection)});
    return stale->DisconnectStale();
  }
  id->Do(id->connection().OnRep(HeaderOf(mad), rep), port, Message::kRep, mad);
}

void ManagerCore::OnRej(CmPort& port, const mad::IncomingMessage& mad) {
  const auto rej = BodyOf<Rej>(mad.mad);
  CmIdCore* id = nullptr;
  if (rej.reason == static_cast<uint16_t>(RejectReason::kTimeout)) {
    const auto info = wire::Decode<TimeoutInfo>(rej.info);
    id = peers_.WithCommId(info.ca_guid, rej.local_comm_id);
  } else if (rej.message_rejected == About::kReq) {
    id = Find(rej.remote_comm_id, 0);
  } else {
    id = Find(rej.remote_comm_id, rej.local_comm_id);
  }
  if (id == nullptr) return;
  id->Do(id->connection().OnRej(timers_.Now(), rej), port, Message::kRej, mad);
}

void ManagerCore::OnMra(CmPort& port, const mad::IncomingMessage& mad) {
  const auto mra = BodyOf<Mra>(mad.mad);
  CmIdCore* id = Find(mra.remote_comm_id,
                      mra.message_mraed == About::kReq ? 0 : mra.local_comm_id);
  if (id == nullptr) return;
  id->Do(id->connection().OnMra(timers_.Now(), mra), port, Message::kMra, mad);
}

void ManagerCore::OnRtu(CmPort& port, const mad::IncomingMessage& mad) {
  const auto rtu = BodyOf<Rtu>(mad.mad);
  CmIdCore* id = Find(rtu.remote_comm_id, rtu.local_comm_id);
  if (id == nullptr) return;
  id->Do(id->connection().OnRtu(rtu), port, Message::kRtu, mad);
}

void ManagerCore::OnDreq(CmPort& port, const mad::IncomingMessage& mad) {
  const auto dreq = BodyOf<Dreq>(mad.mad);
  if (CmIdCore* id = Find(dreq.remote_comm_id, dreq.local_comm_id)) {
    return id->Do(id->connection().OnDreq(HeaderOf(mad), dreq), port,
                  Message::kDreq, mad);
  }
  // A connection that is over here: cm_issue_drep().
  port.CountDuplicate(Message::kDreq);
  const Drep drep{.local_comm_id = dreq.remote_comm_id,
                  .remote_comm_id = dreq.local_comm_id};
  port.Send({.message = Message::kDrep,
             .kind = Sending::Kind::kResponse,
             .mad = MakeMad(drep, HeaderOf(mad).tid)},
            ReplyTo(mad));
}

void ManagerCore::OnDrep(CmPort& port, const mad::IncomingMessage& mad) {
  const auto drep = BodyOf<Drep>(mad.mad);
  CmIdCore* id = Find(drep.remote_comm_id, drep.local_comm_id);
  if (id == nullptr) return;
  id->Do(id->connection().OnDrep(timers_.Now(), drep), port, Message::kDrep,
         mad);
}

void ManagerCore::OnSidrReq(CmPort& port, const mad::IncomingMessage& mad) {
  const auto req = BodyOf<SidrReq>(mad.mad);
  if (peers_.WithAsker({.lid = mad.slid, .request_id = req.request_id}) !=
      nullptr) {
    return port.CountDuplicate(Message::kSidrReq);
  }
  std::unique_ptr<CmIdCore> id = Create(nullptr);
  id->Take(
      HeaderOf(mad), req,
      {.port = port.number(), .high_tid = port.high_tid(), .to = ReplyTo(mad)});
  const auto listener = listeners_.find(req.service_id);
  if (listener == listeners_.end()) {
    id->SendSidrRep({.status = SidrStatus::kUnsupported}).IgnoreError();
    return;
  }
  Arrived arrived{.sidr = true,
                  .port = port.number(),
                  .service_id = req.service_id,
                  .pkey = req.p_key,
                  .from = ReplyTo(mad)};
  arrived.private_data.assign(req.private_data.begin(), req.private_data.end());
  listener->second->OnRequest(std::move(id), arrived);
}

void ManagerCore::OnSidrRep(CmPort& port, const mad::IncomingMessage& mad) {
  const auto rep = BodyOf<SidrRep>(mad.mad);
  CmIdCore* id = Find(rep.request_id, 0);
  if (id == nullptr) return;
  id->Do(id->resolution().OnRep(HeaderOf(mad), rep, ReplyTo(mad)), port,
         Message::kSidrRep, mad);
}

}  // namespace ibemu::cm
