// The requester: it sends messages and receives acknowledgements (IBA vol 1
// §9.7.3).
#include <algorithm>

#include "absl/strings/str_format.h"
#include "fabric/soft_hca/hca.h"
#include "fabric/soft_hca/queue_pair.h"
#include "verbs/wc_status.h"
#include "wire/psn.h"
#include "wire/rnr_timer.h"

namespace ibemu::fabric {
namespace {

using Operation = Transport::Operation;

Operation OperationOf(uint32_t opcode) {
  switch (opcode) {
    case IB_UVERBS_WR_RDMA_WRITE:
    case IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:
      return Operation::kWrite;
    case IB_UVERBS_WR_RDMA_READ:
      return Operation::kReadRequest;
    case IB_UVERBS_WR_ATOMIC_CMP_AND_SWP:
      return Operation::kCompareSwap;
    case IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
      return Operation::kFetchAdd;
    default:
      return Operation::kSend;
  }
}

bool HasImmediate(uint32_t opcode) {
  return opcode == IB_UVERBS_WR_SEND_WITH_IMM ||
         opcode == IB_UVERBS_WR_RDMA_WRITE_WITH_IMM;
}

uint32_t CompletionOpcode(uint32_t opcode) {
  if (opcode == IB_UVERBS_WR_BIND_MW) return IB_UVERBS_WC_BIND_MW;
  switch (OperationOf(opcode)) {
    case Operation::kWrite:
      return IB_UVERBS_WC_RDMA_WRITE;
    case Operation::kReadRequest:
      return IB_UVERBS_WC_RDMA_READ;
    case Operation::kCompareSwap:
      return IB_UVERBS_WC_COMP_SWAP;
    case Operation::kFetchAdd:
      return IB_UVERBS_WC_FETCH_ADD;
    default:
      return IB_UVERBS_WC_SEND;
  }
}

bool IsOffered(verbs::QpType type, const verbs::SendRequest& request) {
  switch (request.work.opcode) {
    case IB_UVERBS_WR_SEND:
    case IB_UVERBS_WR_SEND_WITH_IMM:
      return true;
    case IB_UVERBS_WR_RDMA_WRITE:
    case IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:
      return type != verbs::QpType::kUd;
    case IB_UVERBS_WR_RDMA_READ:
    case IB_UVERBS_WR_ATOMIC_CMP_AND_SWP:
    case IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
      return type == verbs::QpType::kRc;
    case IB_UVERBS_WR_BIND_MW:
      return request.bind &&
             (type == verbs::QpType::kRc || type == verbs::QpType::kUc);
    default:
      return false;
  }
}

}  // namespace

absl::Status QueuePair::PostSend(std::span<verbs::SendRequest> requests,
                                 size_t& taken) {
  if (context_.state < State::kReadyToSend) {
    return absl::InvalidArgumentError("it is not ready to send");
  }
  absl::Status status;
  for (verbs::SendRequest& request : requests) {
    if (request.sges.size() > context_.init.capacity.send_sges ||
        !IsOffered(context_.init.type, request)) {
      status = absl::InvalidArgumentError(absl::StrFormat(
          "operation %d, %d SGEs", request.work.opcode, request.sges.size()));
      break;
    }
    if (sends_.size() == context_.init.capacity.send_requests) {
      status = absl::ResourceExhaustedError("the send queue is full");
      break;
    }
    auto send = std::make_unique<Send>();
    if (request.address != nullptr) {
      send->address =
          static_cast<const verbs::AddressHandle&>(*request.address).attributes;
    }
    if (request.bind) send->bind.emplace(*request.bind);
    send->request = std::move(request);
    sends_.push_back(std::move(send));
    ++taken;
  }
  if (context_.state == State::kError ||
      context_.state == State::kSendQueueError) {
    FlushSends();
  } else {
    Pump();
  }
  return status;
}

// Sends as much as may be sent now.
void QueuePair::Pump() {
  while (!gathering_ && !waits_for_receiver_ && cursor_ < sends_.size() &&
         in_flight_bytes_ < kMaxInFlight) {
    Send& send = *sends_[cursor_];
    const bool drains =
        context_.state == State::kSendQueueDrain && send.started;
    if (context_.state != State::kReadyToSend && !drains) return;
    if (send.failure != 0) return;
    if (send.bind) {
      if (!Bind(send)) return;
      continue;
    }
    if (!send.started && !Start(send)) return;
    if (send.Fetches()) {
      if (!MayFetch()) return;
      EmitFetch(send);
    } else if (send.request.inline_data != nullptr) {
      EmitChunk(send, send.request.inline_data);
    } else if (send.length == 0) {
      EmitChunk(send, nullptr);
    } else {
      return Gather(send);
    }
  }
}

// Starts a send: gives it its length and sequence numbers.  Returns false if it
// has to wait or has failed.
bool QueuePair::Start(Send& send) {
  const ib_uverbs_send_wr& work = send.request.work;
  const bool fenced = (work.send_flags & verbs::send_flag::kFence) != 0;
  if (fenced && fetches_ != 0) return false;
  if (send.Fetches() && !MayFetch()) return false;
  if (send.Fetches() && context_.attributes.max_rd_atomic == 0) {
    FailLater(send, verbs::wc_status::kRemoteInvalidRequest);
    return false;
  }
  if (send.request.inline_data != nullptr) {
    send.length = send.request.inline_data->size();
  } else {
    const auto ranges = RangesOf(send);
    if (!ranges.ok()) {
      FailLater(send, verbs::wc_status::kLocalProtection);
      return false;
    }
    send.length = verbs::LengthOf(*ranges);
  }
  constexpr size_t kLongest = size_t{1} << 31;
  const bool datagram = context_.init.type == verbs::QpType::kUd;
  if (send.length > (datagram ? Mtu() : kLongest) ||
      (send.IsAtomic() && send.length != kAtomicBytes)) {
    FailLater(send, verbs::wc_status::kLocalLength);
    return false;
  }
  // The limit on outstanding packets; the longest message alone has as many
  // (IBA vol 1 §9.7.1).
  constexpr uint32_t kMaxOutstanding = (wire::kPsnMask + 1) / 2;
  const uint32_t packets = wire::PacketsFor(send.length, Mtu());
  const uint32_t outstanding =
      in_flight_.empty()
          ? 0
          : (send_psn_ - in_flight_.front().psn) & wire::kPsnMask;
  if (outstanding + packets > kMaxOutstanding) return false;
  send.first_psn = send_psn_;
  send_psn_ = wire::PsnAfter(send_psn_, packets);
  send.last_psn = wire::PsnAfter(send_psn_, wire::kPsnMask);  // send_psn_ - 1
  send.started = true;
  return true;
}

// Executes a bind of a memory window.  Returns false if it has to wait or has
// failed.  A bind takes no sequence number, and is complete when the sends
// before it are.
bool QueuePair::Bind(Send& send) {
  const uint32_t flags = send.request.work.send_flags;
  if ((flags & verbs::send_flag::kFence) != 0 && fetches_ != 0) return false;
  if (!send.bind->Execute(context_.init.pd).ok()) {
    FailLater(send, verbs::wc_status::kWindowBind);
    return false;
  }
  send.first_psn = send_psn_;
  send.last_psn = wire::PsnAfter(send_psn_, wire::kPsnMask);
  send.started = send.complete = true;
  ++cursor_;
  CompleteSends();
  return true;
}

// Returns the memory of a send.  Keys are looked up each time, because they may
// have been revoked since the message started.
absl::StatusOr<verbs::MemoryRanges> QueuePair::RangesOf(
    const Send& send) const {
  return context_.keys.FindAll(send.request.sges, context_.init.pd,
                               send.Fetches() ? verbs::access::kLocalWrite : 0);
}

void QueuePair::Gather(Send& send) {
  const auto ranges = RangesOf(send);
  if (!ranges.ok()) return FailLater(send, verbs::wc_status::kLocalProtection);
  const size_t size = std::min(send.length - send.emitted, verbs::kChunk);
  const verbs::Buffer buffer = context_.bounces.Take(size);
  verbs::MemoryTransfer transfer;
  transfer.Add(verbs::PartOf(*ranges, send.emitted, size), buffer, 0);
  gathering_ = true;
  transfer.Read(
      context_.guard.Wrap([this, &send, buffer](const absl::Status& status) {
        gathering_ = false;
        if (!status.ok())
          return FailLater(send, verbs::wc_status::kLocalProtection);
        EmitChunk(send, buffer);
        Pump();
      }));
}

// Sends the next packets of a message.  `buffer` holds their payload; null: no
// payload.  A datagram is a single packet: Start() has refused longer ones.
void QueuePair::EmitChunk(Send& send, const verbs::Buffer& buffer) {
  const ib_uverbs_send_wr& work = send.request.work;
  const size_t mtu = Mtu();
  auto train = std::make_shared<Transport>();
  train->service = context_.init.type;
  train->operation = OperationOf(work.opcode);
  train->psn =
      wire::PsnAfter(send.first_psn, static_cast<uint32_t>(send.emitted / mtu));
  train->first = send.emitted == 0;
  train->message = buffer;
  train->size = buffer == nullptr ? 0 : buffer->size();
  train->packets = wire::PacketsFor(train->size, mtu);
  train->payload = static_cast<uint32_t>(mtu);
  train->ack_request = true;
  send.emitted += train->size;
  train->last = send.emitted == send.length;
  if (train->operation == Operation::kWrite) {
    train->address = work.wr.rdma.remote_addr;
    train->key = work.wr.rdma.rkey;
    train->length = static_cast<uint32_t>(send.length);
  }
  if (train->last) {
    train->solicited = (work.send_flags & verbs::send_flag::kSolicited) != 0;
    train->has_immediate = HasImmediate(work.opcode);
    train->immediate = work.ex.imm_data;
  }
  if (context_.init.type == verbs::QpType::kUd) {
    TransmitDatagram(std::move(train), send);
  } else {
    Emit(std::move(train), nullptr);
  }
  if (send.emitted == send.length) FinishSending(send);
}

void QueuePair::Emit(std::shared_ptr<Transport> transport,
                     std::shared_ptr<Fetch> fetch) {
  if (context_.init.type == verbs::QpType::kRc) {
    in_flight_bytes_ += transport->size;
    in_flight_.push_back({transport->psn, transport, std::move(fetch)});
    ArmRetryTimer();
  }
  Transmit(std::move(transport));
}

// Ends a send all of whose packets have left.
void QueuePair::FinishSending(Send& send) {
  ++cursor_;
  if (context_.init.type == verbs::QpType::kRc) return;
  send.complete = true;
  CompleteSends();
  TellIfDrained();
}

void QueuePair::OnAnswer(const Transport& answer) {
  if (in_flight_.empty()) return;
  // Acknowledgements of packets that were not sent are invalid.
  if (wire::PsnDistance(answer.psn, wire::PsnAfter(send_psn_, wire::kPsnMask)) >
      0)
    return;
  if (answer.operation != Operation::kAcknowledge) return OnFetched(answer);
  switch (answer.syndrome) {
    case Syndrome::kAck:
      return AcknowledgeUpTo(answer.psn);
    case Syndrome::kSequenceError:
      AcknowledgeUpTo(wire::PsnAfter(answer.psn, wire::kPsnMask));
      if (waits_for_receiver_) return;  // Retransmit() will follow
      if (context_.state == State::kReadyToSend ||
          context_.state == State::kSendQueueDrain) {
        Retransmit();
      }
      return;
    case Syndrome::kRnrNak: {
      AcknowledgeUpTo(wire::PsnAfter(answer.psn, wire::kPsnMask));
      if (in_flight_.empty() || waits_for_receiver_) return;
      constexpr int kForEver = 7;
      if (context_.attributes.rnr_retry != kForEver &&
          rnr_retries_left_-- == 0) {
        return FailSend(verbs::wc_status::kRnrRetriesExceeded);
      }
      waits_for_receiver_ = true;
      context_.timers.Cancel(std::exchange(retry_timer_, TimerId::kNone));
      context_.timers.RunAfter(
          absl::Microseconds(wire::RnrMicroseconds(answer.rnr_timer)),
          context_.guard.Wrap([this] {
            waits_for_receiver_ = false;
            Retransmit();
            Pump();
          }));
      return;
    }
    case Syndrome::kInvalidRequest:
      return OnRefusal(answer.psn, verbs::wc_status::kRemoteInvalidRequest);
    case Syndrome::kAccessError:
      return OnRefusal(answer.psn, verbs::wc_status::kRemoteAccess);
    case Syndrome::kOperationError:
      return OnRefusal(answer.psn, verbs::wc_status::kRemoteOperation);
  }
}

// Handles a NAK that ends the connection.  RDMA READs before the failed request
// may still be waiting for memory: they complete first.
void QueuePair::OnRefusal(uint32_t psn, uint32_t status) {
  AcknowledgeUpTo(wire::PsnAfter(psn, wire::kPsnMask));
  for (const auto& send : sends_) {
    if (send->started && wire::PsnDistance(psn, send->last_psn) <= 0) {
      return FailLater(*send, status);
    }
  }
}

void QueuePair::AcknowledgeUpTo(uint32_t psn) {
  // The acknowledged PSN may be ahead of READ data that still waits for memory.
  bool progress = wire::PsnDistance(psn, acknowledged_psn_) > 0;
  if (progress) acknowledged_psn_ = psn;
  while (!in_flight_.empty()) {
    const InFlight& first = in_flight_.front();
    if (first.fetch != nullptr
            ? !first.fetch->complete
            : wire::PsnDistance(acknowledged_psn_,
                                first.transport->last_psn()) < 0) {
      break;
    }
    in_flight_bytes_ -= first.transport->size;
    in_flight_.pop_front();
    progress = true;
  }
  if (!progress) return;
  retries_left_ = context_.attributes.retry_cnt;
  timeouts_ = 0;
  rnr_retries_left_ = context_.attributes.rnr_retry;
  ArmRetryTimer();
  // Sends that have left and are no longer in flight are complete.
  for (size_t i = 0; i < cursor_; ++i) {
    Send& send = *sends_[i];
    if (!send.Fetches() &&
        (in_flight_.empty() ||
         wire::PsnDistance(send.last_psn, in_flight_.front().psn) < 0)) {
      send.complete = true;
    }
  }
  CompleteSends();
  TellIfDrained();
  Pump();
}

void QueuePair::CompleteSends() {
  while (!sends_.empty() && sends_.front()->complete) {
    const std::unique_ptr<Send> send = std::move(sends_.front());
    sends_.pop_front();
    --cursor_;
    CompleteSend(*send, verbs::wc_status::kSuccess);
  }
  if (!sends_.empty() && sends_.front()->failure != 0) {
    FailSend(sends_.front()->failure);
  }
}

void QueuePair::FailLater(Send& send, uint32_t status) {
  send.failure = status;
  if (sends_.front().get() == &send) FailSend(status);
}

void QueuePair::CompleteSend(const Send& send, uint32_t status) {
  const ib_uverbs_send_wr& work = send.request.work;
  const bool wanted = context_.init.signal_all ||
                      (work.send_flags & verbs::send_flag::kSignaled) != 0;
  if (status == verbs::wc_status::kSuccess && !wanted) return;
  verbs::WorkCompletion completion{};
  completion.wr_id = work.wr_id;
  completion.status = status;
  completion.opcode = CompletionOpcode(work.opcode);
  completion.byte_len = static_cast<uint32_t>(send.length);
  completion.qp_num = context_.number;
  context_.send_cq().Push(completion, false);
}

// Completes the oldest send with an error and flushes those behind it.
void QueuePair::FailSend(uint32_t status) {
  if (sends_.empty()) return;
  const std::unique_ptr<Send> send = std::move(sends_.front());
  sends_.pop_front();
  if (cursor_ > 0) --cursor_;
  CompleteSend(*send, status);
  if (context_.init.type == verbs::QpType::kRc) return EnterError();
  // In this state the queue pair still receives (IBA vol 1 §10.3.1.6).
  context_.state = State::kSendQueueError;
  FlushSends();
}

// Returns true if the packet waits for an answer of the peer.  Otherwise it
// waits for local memory.
bool QueuePair::AwaitsPeer(const InFlight& packet) const {
  return packet.fetch != nullptr
             ? !packet.fetch->answered
             : wire::PsnDistance(packet.transport->last_psn(),
                                 acknowledged_psn_) > 0;
}

void QueuePair::Retransmit() {
  for (const InFlight& packet : in_flight_) {
    if (!AwaitsPeer(packet)) continue;
    if (packet.fetch == nullptr) {
      const int32_t arrived =
          wire::PsnDistance(acknowledged_psn_, packet.psn) + 1;
      Transmit(arrived <= 0
                   ? packet.transport
                   : std::make_shared<Transport>(packet.transport->After(
                         static_cast<uint32_t>(arrived))));
      continue;
    }
    const Fetch& fetch = *packet.fetch;
    if (fetch.send.IsAtomic()) {
      Transmit(packet.transport);
      continue;
    }
    // A READ is repeated from its first missing response on.
    auto again = std::make_shared<Transport>(*packet.transport);
    again->psn = fetch.next_psn;
    again->address += fetch.received;
    again->length -= static_cast<uint32_t>(fetch.received);
    Transmit(std::move(again));
  }
  ArmRetryTimer();
}

void QueuePair::ArmRetryTimer() {
  context_.timers.Cancel(std::exchange(retry_timer_, TimerId::kNone));
  if (waits_for_receiver_) return;  // Retransmit() will follow
  const bool waits = std::any_of(
      in_flight_.begin(), in_flight_.end(),
      [this](const InFlight& packet) { return AwaitsPeer(packet); });
  if (!waits || context_.attributes.timeout == 0) return;
  // The local ACK timeout, IBA vol 1 §9.7.6.1.3.
  const absl::Duration timeout =
      absl::Nanoseconds(4096) * (int64_t{1} << context_.attributes.timeout);
  retry_timer_ = context_.timers.RunAfter(timeout, context_.guard.Wrap([this] {
    retry_timer_ = TimerId::kNone;
    OnRetryTimeout();
  }));
}

// Retransmits after a timeout.  The specification lets a retry take up to four
// times the timeout.  A retry is counted only after all of that time, because
// on a busy machine the worker of the peer may be late, but lost packets are
// sent again after each single timeout.
void QueuePair::OnRetryTimeout() {
  constexpr int kMost = 4;
  if (++timeouts_ % kMost == 0 && retries_left_-- == 0)
    return FailSend(verbs::wc_status::kRetriesExceeded);
  Retransmit();
}

}  // namespace ibemu::fabric
