#include "fabric/soft_hca/queue_pair.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "fabric/soft_hca/hca.h"
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
      number_(number),
      init_(init),
      listener_(listener),
      receives_(init.capacity.receive_requests, init.capacity.receive_sges) {}

QueuePair::~QueuePair() {
  *self_ = nullptr;
  hca_.timers().Cancel(retry_timer_);
  hca_.Forget(*this);
}

verbs::CompletionQueue& QueuePair::send_cq() const {
  return static_cast<verbs::CompletionQueue&>(*init_.send_cq);
}

verbs::CompletionQueue& QueuePair::receive_cq() const {
  return static_cast<verbs::CompletionQueue&>(*init_.receive_cq);
}

size_t QueuePair::Mtu() const {
  const uint32_t code = init_.type == verbs::QpType::kUd
                            ? hca_.MtuCodeOf(attributes_.port_num)
                            : attributes_.path_mtu;
  return size_t{128} << code;
}

absl::Status QueuePair::Modify(const verbs::QpAttributes& attributes) {
  const State from = state_;
  IBEMU_ASSIGN_OR_RETURN(const State to,
                         verbs::NextState(init_.type, from, attributes));
  if (from == State::kSendQueueDrain && to < State::kSendQueueError &&
      to != State::kReset && !IsDrained()) {
    return absl::InvalidArgumentError("what is under way has not ended");
  }
  IBEMU_RETURN_IF_ERROR(verbs::CheckQpAttributes(
      hca_.QueryDevice(), kGuidTableEntries, attributes));
  Apply(attributes);
  if (to == State::kReset) {
    Reset();
    return absl::OkStatus();
  }
  if (to == State::kError) {
    EnterError();
    return absl::OkStatus();
  }
  state_ = to;
  if (to == State::kSendQueueDrain && from != to) {
    tells_drained_ = Names(attributes, attribute::kNotifyDrained) &&
                     attributes.en_sqd_async_notify != 0;
    TellIfDrained();
  }
  Pump();
  return absl::OkStatus();
}

void QueuePair::Apply(const verbs::QpAttributes& attributes) {
  verbs::TakeNamed(attributes, attributes_);
  if (Names(attributes, attribute::kReceivePsn)) {
    attributes_.rq_psn = expected_psn_ = attributes.rq_psn & wire::kPsnMask;
  }
  if (Names(attributes, attribute::kSendPsn)) {
    attributes_.sq_psn = send_psn_ = attributes.sq_psn & wire::kPsnMask;
    acknowledged_psn_ = wire::PsnAfter(send_psn_, wire::kPsnMask);
  }
  retries_left_ = attributes_.retry_cnt;
  rnr_retries_left_ = attributes_.rnr_retry;
  timeouts_ = 0;
}

verbs::QpAttributes QueuePair::Query() const {
  verbs::QpAttributes result = attributes_;
  result.qp_state = result.cur_qp_state = static_cast<uint32_t>(state_);
  result.rq_psn = expected_psn_;
  result.sq_psn = send_psn_;
  result.sq_draining = state_ == State::kSendQueueDrain && !IsDrained() ? 1 : 0;
  return result;
}

// A message that has started is sent and acknowledged completely; no other one
// starts (IBA vol 1 §10.3.1.5).
bool QueuePair::IsDrained() const {
  return in_flight_.empty() &&
         (cursor_ == sends_.size() || !sends_[cursor_]->started);
}

void QueuePair::TellIfDrained() {
  if (state_ != State::kSendQueueDrain || !tells_drained_ || !IsDrained()) {
    return;
  }
  tells_drained_ = false;
  listener_.OnEvent(verbs::EventType::kSendQueueDrained);
}

void QueuePair::OnRemoval() {
  if (state_ != State::kReset) EnterError();
}

void QueuePair::Reset() {
  ++life_;
  state_ = State::kReset;
  hca_.timers().Cancel(std::exchange(retry_timer_, TimerId::kNone));
  attributes_ = {};
  sends_.clear();
  in_flight_.clear();
  in_flight_bytes_ = fetching_bytes_ = writing_bytes_ = cursor_ = 0;
  gathering_ = waits_for_receiver_ = tells_drained_ = false;
  told_of_gap_ = refused_ = established_ = false;
  fetches_ = 0;
  while (receives_.Take()) continue;
  message_.reset();
  batch_ = {};
  steps_.clear();
  atomic_results_.clear();
}

void QueuePair::EnterError() {
  if (state_ == State::kError) return;
  ++life_;
  state_ = State::kError;
  hca_.timers().Cancel(std::exchange(retry_timer_, TimerId::kNone));
  in_flight_.clear();
  in_flight_bytes_ = fetching_bytes_ = writing_bytes_ = 0;
  gathering_ = waits_for_receiver_ = tells_drained_ = false;
  fetches_ = 0;
  batch_ = {};
  FlushSends();
  FlushReceives();
}

void QueuePair::FlushSends() {
  for (const auto& send : std::exchange(sends_, {})) {
    CompleteSend(*send, verbs::wc_status::kFlushed);
  }
  cursor_ = 0;
}

void QueuePair::FlushReceives() {
  const auto flush = [this](uint64_t id) {
    verbs::WorkCompletion completion{};
    completion.wr_id = id;
    completion.status = verbs::wc_status::kFlushed;
    completion.opcode = verbs::wc_opcode::kReceive;
    completion.qp_num = number_;
    receive_cq().Push(completion, false);
  };
  // A message whose last packet has arrived is one of the steps.
  for (const auto& step : std::exchange(steps_, {})) {
    if (step->completion) flush(step->completion->wr_id);
  }
  if (message_ && message_->receive) flush(message_->receive->id);
  message_.reset();
  while (const auto receive = receives_.Take()) flush(receive->id);
}

absl::Status QueuePair::PostReceive(std::span<verbs::ReceiveRequest> requests,
                                    size_t& taken) {
  if (state_ == State::kReset || init_.srq != nullptr) {
    return absl::InvalidArgumentError("it receives nothing by itself");
  }
  IBEMU_RETURN_IF_ERROR(receives_.Post(requests, taken));
  if (state_ == State::kError) FlushReceives();
  return absl::OkStatus();
}

absl::Status QueuePair::AttachMulticast(const verbs::GidBytes& gid,
                                        uint16_t lid) {
  constexpr uint8_t kMulticastGid = 0xff;
  if (init_.type != verbs::QpType::kUd || gid[0] != kMulticastGid ||
      !wire::IsMulticast(wire::Lid{lid})) {
    return absl::InvalidArgumentError("no datagrams, or no multicast address");
  }
  IBEMU_RETURN_IF_ERROR(hca_.Attach(*this, gid, lid));
  groups_.emplace(gid, lid);
  return absl::OkStatus();
}

void QueuePair::DetachMulticast(const verbs::GidBytes& gid, uint16_t lid) {
  groups_.erase({gid, lid});
  hca_.Detach(*this, gid, lid);
}

void QueuePair::Transmit(std::shared_ptr<const Transport> transport,
                         const Send* datagram) {
  if (datagram == nullptr) {
    return hca_.Transmit(attributes_.port_num, attributes_.ah_attr,
                         {.pkey_index = attributes_.pkey_index,
                          .source_qpn = number_,
                          .destination_qpn = attributes_.dest_qp_num},
                         std::move(transport));
  }
  const auto& ud = datagram->request.work.wr.ud;
  // The highest bit selects the queue pair's own Q_Key (IBA vol 1 §10.2.5).
  constexpr uint32_t kOwnQKey = 1u << 31;
  hca_.Transmit(attributes_.port_num, datagram->address,
                {.pkey_index = attributes_.pkey_index,
                 .source_qpn = number_,
                 .destination_qpn = ud.remote_qpn,
                 .q_key = (ud.remote_qkey & kOwnQKey) != 0 ? attributes_.qkey
                                                           : ud.remote_qkey},
                std::move(transport));
}

bool QueuePair::Receives() const {
  return state_ == State::kReadyToReceive || state_ == State::kReadyToSend ||
         state_ == State::kSendQueueDrain || state_ == State::kSendQueueError;
}

void QueuePair::OnPacket(const NodePort& port, uint16_t pkey_index,
                         const Packet& packet) {
  const Transport& transport = *packet.transport;
  if (transport.service != init_.type || port.number != attributes_.port_num) {
    return;
  }
  if (!Receives()) return;
  if (init_.type == verbs::QpType::kUd) {
    return OnDatagram(port, pkey_index, packet);
  }
  // On a wire, a packet of a connection does not name its source queue pair, so
  // the source LID has to do (IBA vol 1 §9.6.1.5).
  const bool from_peer =
      packet.source_qpn != 0
          ? packet.source_qpn == attributes_.dest_qp_num
          : static_cast<uint16_t>(packet.slid) == attributes_.ah_attr.dlid;
  if (!from_peer) return;
  switch (transport.operation) {
    case Transport::Operation::kAcknowledge:
    case Transport::Operation::kReadResponse:
    case Transport::Operation::kAtomicResponse:
      return OnAnswer(transport);
    default:
      return OnRequest(transport);
  }
}

}  // namespace ibemu::fabric
