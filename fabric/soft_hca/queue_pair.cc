#include "fabric/soft_hca/queue_pair.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "base/status_macros.h"
#include "fabric/soft_hca/hca.h"
#include "fabric/soft_hca/protection_domain.h"
#include "fabric/soft_hca/transport/reliable_responder.h"
#include "fabric/soft_hca/transport/unreliable_responder.h"
#include "verbs/parts/device_limits.h"
#include "verbs/parts/qp_transitions.h"
#include "verbs/wc_status.h"
#include "wire/psn.h"

namespace ibemu::fabric {
namespace {

namespace attribute = verbs::qp_attribute;

using verbs::Names;

}  // namespace

QueuePair::QueuePair(Hca& hca, uint32_t number, const verbs::QpInit& init,
                     verbs::ObjectListener& listener)
    : hca_(hca),
      history_(hca.BeginHistory(
          number, static_cast<const ProtectionDomain*>(init.pd)->process)),
      gate_(hca.Events(), history_->process(), listener),
      context_{.number = number,
               .init = init,
               .listener = gate_,
               .timers = hca.timers(),
               .keys = hca.keys(),
               .bounces = hca.bounces(),
               .atomics = hca.atomics(),
               .history = *history_,
               .counters = counters_.present()},
      receives_(init.capacity.receive_requests, init.capacity.receive_sges),
      requester_(*this) {
  QueuePairLink& link = *this;
  if (init.type == verbs::QpType::kUd) {
    datagrams_.emplace(link);
  } else if (init.type == verbs::QpType::kRc) {
    responder_ = std::make_unique<ReliableResponder>(link);
  } else {
    responder_ = std::make_unique<UnreliableResponder>(link);
  }
}

QueuePair::~QueuePair() {
  notes_.Facts(counters_.All());
  ForgetCompletions();
  LeavePort();
  hca_.Forget(*this);
}

QueuePairStatus QueuePair::Status() const {
  const verbs::QpAttributes& attributes = context_.attributes;
  const bool connected = !datagrams_ && attributes.dest_qp_num != 0;
  const bool shared = context_.init.srq != nullptr;
  const SendQueue& sends = requester_.sends();
  return {.number = context_.number,
          .type = context_.init.type,
          .state = context_.state,
          .port = port(),
          .peer_lid = connected ? attributes.ah_attr.dlid : uint16_t{0},
          .peer_qpn = connected ? attributes.dest_qp_num : 0,
          .send_size = sends.size(),
          .sends = sends.taken(),
          .outstanding = sends.outstanding(),
          .receive_size = shared ? 0 : receives_.max_requests(),
          .receives = receives_.size(),
          .shared_receive_queue = shared,
          .process = process(),
          .counters = counters_.All()};
}

// Before it has a port it counts nothing.
void QueuePair::LeavePort() { hca_.KeepCounters(port(), counters_.Leave()); }

size_t QueuePair::Mtu() const {
  const uint32_t code = context_.init.type == verbs::QpType::kUd
                            ? hca_.MtuCodeOf(context_.attributes.port_num)
                            : context_.attributes.path_mtu;
  return size_t{128} << code;
}

absl::Status QueuePair::Modify(const verbs::QpAttributes& attributes) {
  const State from = context_.state;
  IBEMU_ASSIGN_OR_RETURN(
      const State to, verbs::NextState(context_.init.type, from, attributes));
  if (from == State::kSendQueueDrain && to < State::kSendQueueError &&
      to != State::kReset && !requester_.IsDrained()) {
    return absl::InvalidArgumentError("what is under way has not ended");
  }
  IBEMU_RETURN_IF_ERROR(verbs::CheckQpAttributes(
      hca_.QueryDevice(), kGuidTableEntries, attributes));
  IBEMU_RETURN_IF_ERROR(migration_.Check(attributes, to));
  const bool moved = Apply(attributes);
  if (to == State::kReset) {
    notes_.State(to);
    Reset();
    return absl::OkStatus();
  }
  if (to == State::kError) {
    if (from != State::kError) notes_.Facts(counters_.All());
    notes_.State(to);
    EndAndTell();
    return absl::OkStatus();
  }
  notes_.State(to);
  context_.state = to;
  notes_.Facts(counters_.All());
  if (to == State::kSendQueueDrain && from != to) {
    requester_.Drain(Names(attributes, attribute::kNotifyDrained) &&
                     attributes.en_sqd_async_notify != 0);
  }
  requester_.Pump();
  if (moved) context_.listener.OnEvent(verbs::AsyncEventType::kPathMigrated);
  return absl::OkStatus();
}

bool QueuePair::Apply(const verbs::QpAttributes& attributes) {
  verbs::QpAttributes& own = context_.attributes;
  if (Names(attributes, attribute::kPort)) LeavePort();
  verbs::TakeNamed(attributes, own);
  if (Names(attributes, attribute::kReceivePsn)) {
    own.rq_psn = attributes.rq_psn & wire::kPsnMask;
    responder_->Start(own.rq_psn);
  }
  if (Names(attributes, attribute::kSendPsn)) {
    own.sq_psn = attributes.sq_psn & wire::kPsnMask;
    requester_.Start(own.sq_psn);
  }
  if (Names(attributes, attribute::kDestinationQp)) notes_.Peer();
  bool moved = false;
  if (Names(attributes, attribute::kMigrationState)) {
    if (PathMigration::State{attributes.path_mig_state} ==
        PathMigration::State::kRearm) {
      migration_.Rearm();
    } else if (Move("by the program")) {
      moved = true;
      if (Names(attributes, attribute::kTimeout)) {
        own.timeout = attributes.timeout;
      }
      requester_.OnNewPath();
    }
  }
  requester_.RenewRetries();
  return moved;
}

bool QueuePair::Move(absl::string_view why) {
  if (migration_.state() != PathMigration::State::kArmed) return false;
  LeavePort();
  migration_.Move();
  notes_.Moved(why);
  return true;
}

bool QueuePair::MoveToAlternatePath(absl::string_view why) {
  if (!Move(why)) return false;
  context_.listener.OnEvent(verbs::AsyncEventType::kPathMigrated);
  return true;
}

verbs::QpAttributes QueuePair::Query() const {
  verbs::QpAttributes result = context_.attributes;
  result.qp_state = result.cur_qp_state = static_cast<uint32_t>(context_.state);
  if (responder_) result.rq_psn = responder_->expected_psn();
  result.sq_psn = requester_.next_psn();
  const bool draining =
      context_.state == State::kSendQueueDrain && !requester_.IsDrained();
  result.sq_draining = draining ? 1 : 0;
  return result;
}

void QueuePair::OnRemoval() {
  if (context_.state != State::kReset && context_.state != State::kError) {
    notes_.Error(State::kError, "as the adapter has gone");
    EndRequests();
  }
}

// Completions from before belong to nobody, see mlx4_cq_clean() and
// mlx5_cq_clean() of rdma-core.
void QueuePair::ForgetCompletions() {
  context_.send_cq().Forget(context_.number);
  context_.receive_cq().Forget(context_.number);
}

void QueuePair::Reset() {
  notes_.Facts(counters_.All());
  ForgetCompletions();
  notes_.Restart();
  context_.guard.Invalidate();
  loss_guard_.Invalidate();
  told_of_loss_ = false;
  context_.state = State::kReset;
  hca_.KeepCounters(port(), counters_.Reset());
  context_.attributes = {};
  requester_.Reset();
  while (receives_.Take()) continue;
  if (responder_) responder_->Reset();
  if (datagrams_) datagrams_->Reset();
}

// The requests that it took from a shared receive queue have completed then,
// and it takes no more (IBA vol 1 §11.6.3.1).
void QueuePair::EnterError(absl::string_view why) {
  notes_.Error(State::kError, why);
  EndAndTell();
}

void QueuePair::EndAndTell() {
  if (context_.state == State::kError) return;
  EndRequests();
  if (context_.init.srq != nullptr) {
    context_.listener.OnEvent(verbs::AsyncEventType::kLastWqeReached);
  }
}

void QueuePair::EndRequests() {
  context_.guard.Invalidate();
  context_.state = State::kError;
  requester_.Flush();
  FlushReceives();
}

void QueuePair::FailBy(std::string_view fault) {
  EnterError(absl::StrCat("by ", Absl(fault)));
  context_.listener.OnEvent(verbs::AsyncEventType::kQpFatal);
}

bool QueuePair::CanFailToSend() const {
  return !context_.IsReliable() && (context_.state == State::kReadyToSend ||
                                    context_.state == State::kSendQueueDrain);
}

void QueuePair::FailToSendBy(std::string_view fault) {
  EnterSendQueueError(absl::StrCat("by ", Absl(fault)));
  requester_.Flush();
}

CompletionFate QueuePair::FateOf(WorkQueue queue) {
  return hca_.FateOf(*this, queue);
}

void QueuePair::EnterSendQueueError(absl::string_view why) {
  notes_.Error(State::kSendQueueError, why);
  context_.state = State::kSendQueueError;
}

// It waits for the part that completes a request to be done with that.  The
// completion may be that of an error, so the queue pair may be in the error
// state before.
void QueuePair::OnLostCompletion() {
  if (std::exchange(told_of_loss_, true)) return;
  notes_.LostCompletion();
  context_.timers.RunAfter(absl::ZeroDuration(), loss_guard_.Wrap([this] {
    EnterError("as its completion queue is full");
    context_.listener.OnEvent(verbs::AsyncEventType::kQpFatal);
  }));
}

void QueuePair::FlushReceives() {
  if (responder_) responder_->Flush();
  if (datagrams_) datagrams_->Flush();
  while (const auto receive = receives_.Take()) {
    FlushReceive(receive->id, verbs::wc_status::kFlushed);
  }
}

std::optional<verbs::ReceiveRequest> QueuePair::TakeReceive(
    QueuePairHistory::Psn psn, absl::string_view what) {
  if (const auto fault = hca_.NotReadyBy(*this)) {
    notes_.KeptBack(psn, *fault);
    return std::nullopt;
  }
  verbs::Srq* const srq = context_.init.srq;
  if (TakesReceives() && receives_.size() == 0) gate_.OnNoReceive();
  auto taken = srq == nullptr
                   ? receives_.Take()
                   : static_cast<verbs::SharedReceiveQueue*>(srq)->Take();
  if (!taken) notes_.NoReceive(psn, what);
  return taken;
}

void QueuePair::PutBackReceive(verbs::ReceiveRequest request) {
  verbs::Srq* const srq = context_.init.srq;
  if (srq == nullptr) return receives_.PutBack(std::move(request));
  static_cast<verbs::SharedReceiveQueue*>(srq)->PutBack(std::move(request));
}

bool QueuePair::TakesReceives() const {
  return context_.state != State::kReset && context_.init.srq == nullptr;
}

std::optional<verbs::QpPromise> QueuePair::promise() const {
  return verbs::QpPromise{.sends = requester_.promised(),
                          .receives = TakesReceives() ? receives_.free() : 0};
}

void QueuePair::MakeRoom(size_t sends, size_t receives) {
  requester_.MakeRoom(sends);
  receives_.MakeRoom(receives);
}

absl::Status QueuePair::PostReceive(std::span<verbs::ReceiveRequest> requests,
                                    size_t& taken) {
  if (!TakesReceives()) {
    return absl::InvalidArgumentError("it receives nothing by itself");
  }
  IBEMU_RETURN_IF_ERROR(receives_.Post(requests, taken));
  if (context_.state == State::kError) FlushReceives();
  return absl::OkStatus();
}

absl::Status QueuePair::PostSend(std::span<verbs::SendRequest> requests,
                                 size_t& taken) {
  return requester_.Post(requests, taken);
}

absl::Status QueuePair::AttachMulticast(const verbs::GidBytes& gid,
                                        uint16_t lid) {
  constexpr uint8_t kMulticastGid = 0xff;
  if (context_.init.type != verbs::QpType::kUd || gid[0] != kMulticastGid ||
      !wire::IsMulticast(wire::Lid{lid})) {
    return absl::InvalidArgumentError("no datagrams, or no multicast address");
  }
  return hca_.Attach(*this, gid, lid);
}

void QueuePair::DetachMulticast(const verbs::GidBytes& gid, uint16_t lid) {
  hca_.Detach(*this, gid, lid);
}

void QueuePair::Transmit(std::shared_ptr<const Transport> packets) {
  const verbs::QpAttributes& attributes = context_.attributes;
  hca_.Transmit(
      attributes.port_num, attributes.ah_attr,
      {.pkey_index = attributes.pkey_index,
       .source_qpn = context_.number,
       .destination_qpn = attributes.dest_qp_num,
       .migrated = migration_.state() == PathMigration::State::kMigrated},
      std::move(packets));
}

void QueuePair::TransmitDatagram(std::shared_ptr<const Transport> packet,
                                 const PostedSend& send) {
  const verbs::QpAttributes& attributes = context_.attributes;
  const auto& ud = send.request.work.wr.ud;
  // The highest bit selects the queue pair's own Q_Key (IBA vol 1 §10.2.5).
  constexpr uint32_t kOwnQKey = 1u << 31;
  hca_.Transmit(attributes.port_num, send.address,
                {.pkey_index = attributes.pkey_index,
                 .source_qpn = context_.number,
                 .destination_qpn = ud.remote_qpn,
                 .q_key = (ud.remote_qkey & kOwnQKey) != 0 ? attributes.qkey
                                                           : ud.remote_qkey},
                std::move(packet));
}

void QueuePair::OnPacket(const NodePort& port, const Packet& packet) {
  const Transport& transport = *packet.transport;
  const verbs::QpAttributes& attributes = context_.attributes;
  if (transport.service != context_.init.type) {
    return notes_.NotTaken(transport, "it is of another service than this");
  }
  if (!context_.Receives()) {
    return notes_.NotTaken(
        transport,
        absl::StrCat("the state is ", Absl(verbs::NameOf(context_.state)),
                     ": packets are taken from RTR on"));
  }
  if (ComesByAlternatePath(port, packet) &&
      MoveToAlternatePath("as the peer had moved")) {
    requester_.OnNewPath();
  }
  if (port.number != attributes.port_num) {
    return notes_.NotTaken(
        transport, absl::StrFormat("it came to port %d: this uses port %d",
                                   port.number, attributes.port_num));
  }
  const uint16_t p_key = port.PKeyAt(attributes.pkey_index);
  if (!wire::MayTalk(p_key, packet.p_key)) {
    notes_.NotTaken(transport, absl::StrFormat("its P_Key is %#x: this has %#x",
                                               packet.p_key, p_key));
    // Members of a group may be in several partitions.
    if (!wire::IsMulticast(packet.dlid)) hca_.OnBadPKey(port, packet);
    return;
  }
  if (datagrams_) return OnDatagram(port, packet);
  // On a wire, a packet of a connection does not name its source queue pair, so
  // the source LID has to do (IBA vol 1 §9.6.1.5).
  const bool from_peer =
      packet.source_qpn != 0
          ? packet.source_qpn == attributes.dest_qp_num
          : static_cast<uint16_t>(packet.slid) == attributes.ah_attr.dlid;
  if (!from_peer) {
    return notes_.NotTaken(
        transport,
        absl::StrFormat("it comes from LID %d, queue pair %#x: this is "
                        "connected to LID %d, queue pair %#x",
                        static_cast<unsigned>(packet.slid), packet.source_qpn,
                        attributes.ah_attr.dlid, attributes.dest_qp_num));
  }
  migration_.OnPacket(packet);
  switch (transport.operation) {
    case Transport::Operation::kAcknowledge:
    case Transport::Operation::kReadResponse:
    case Transport::Operation::kAtomicResponse:
      return requester_.OnAnswer(transport);
    default:
      return responder_->OnRequest(transport);
  }
}

// The P_Key and the source are those that it has to have on this path.
bool QueuePair::ComesByAlternatePath(const NodePort& port,
                                     const Packet& packet) const {
  const verbs::QpAttributes& attributes = context_.attributes;
  return migration_.PeerHasMoved(packet, port.number) &&
         wire::MayTalk(port.PKeyAt(attributes.alt_pkey_index), packet.p_key) &&
         (packet.source_qpn == 0 ||
          packet.source_qpn == attributes.dest_qp_num);
}

void QueuePair::OnDatagram(const NodePort& port, const Packet& packet) {
  if (packet.q_key != context_.attributes.qkey) {
    notes_.NotTaken(*packet.transport,
                    absl::StrFormat("its Q_Key is %#x: this has %#x",
                                    packet.q_key, context_.attributes.qkey));
    return hca_.OnBadQKey(port, packet);
  }
  const unsigned path_bits = port.Owns(packet.dlid)
                                 ? static_cast<unsigned>(packet.dlid) -
                                       static_cast<unsigned>(port.info.lid)
                                 : 0;
  datagrams_->OnDatagram(packet, context_.attributes.pkey_index,
                         static_cast<uint8_t>(path_bits));
}

}  // namespace ibemu::fabric
