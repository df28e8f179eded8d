#include "fabric/soft_hca/transport/requester.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "fabric/soft_hca/transport/atomic_unit.h"
#include "verbs/parts/bounce_buffers.h"
#include "verbs/parts/memory_transfer.h"
#include "verbs/wc_status.h"
#include "wire/psn.h"

namespace ibemu::fabric {

namespace {

// Returns true if the request's memory is where its data were read: a region
// may give its memory other addresses, and be another process's.
bool IsWhatWasRead(const verbs::SendRequest& request,
                   const verbs::MemoryRanges& ranges) {
  auto range = ranges.begin();
  for (const ib_uverbs_sge& sge : request.sges) {
    if (sge.length == 0) continue;
    if (range == ranges.end() || range->address != sge.addr ||
        range->memory->process() != request.reader) {
      return false;
    }
    ++range;
  }
  return true;
}

}  // namespace

using State = verbs::QpState;

absl::Status Requester::Post(std::span<verbs::SendRequest> requests,
                             size_t& taken) {
  if (qp_.state < State::kReadyToSend) {
    return absl::InvalidArgumentError("it is not ready to send");
  }
  absl::Status status = sends_.Post(requests, taken);
  if (qp_.state == State::kError || qp_.state == State::kSendQueueError) {
    sends_.Flush();
  } else {
    Pump();
  }
  return status;
}

// A queue pair that is ready to send takes requests in all later states, too:
// only its client resets it.
size_t Requester::promised() const {
  return qp_.state < State::kReadyToSend ? 0 : sends_.free();
}

void Requester::Start(uint32_t psn) {
  next_psn_ = psn;
  in_flight_.Start(psn);
}

void Requester::Pump() {
  while (!gathering_ && !in_flight_.waits_for_receiver() &&
         sends_.HasCurrent() &&
         in_flight_.bytes() < PacketsInFlight::kMaxBytes) {
    PostedSend& send = sends_.current();
    const bool drains = qp_.state == State::kSendQueueDrain && send.started;
    if (qp_.state != State::kReadyToSend && !drains) return;
    if (send.failure != 0) return;
    if (!send.started && !Begin(send)) return;
    if (send.Fetches()) {
      if (!fetches_.MayRequest()) return;
      fetches_.Request(send);
      if (send.emitted == send.length) sends_.Advance();
    } else if (send.request.inline_data != nullptr) {
      SendChunk(send, send.request.inline_data);
    } else if (send.length == 0) {
      SendChunk(send, nullptr);
    } else if (send.request.read_data != nullptr) {
      SendChunk(send, send.request.read_data);
    } else {
      return Gather(send);
    }
  }
}

// Begins a send: gives it its length and sequence numbers.  Returns false if it
// has to wait or has failed.
bool Requester::Begin(PostedSend& send) {
  if (send.IsFenced() && !fetches_.idle()) return false;
  if (send.Fetches() && !fetches_.MayRequest()) return false;
  if (send.Fetches() && qp_.attributes.max_rd_atomic == 0) {
    return Fail(send, verbs::wc_status::kRemoteInvalidRequest,
                "max_rd_atomic is 0: it may ask for nothing");
  }
  if (qp_.init.type == verbs::QpType::kUd && send.address_pd != qp_.init.pd) {
    return Fail(send, verbs::wc_status::kLocalQpOperation,
                "the address handle is of another protection domain");
  }
  if (!FindLength(send)) return false;
  // The limit on outstanding packets; the longest message alone has as many
  // (IBA vol 1 §9.7.1).
  constexpr uint32_t kMaxOutstanding = (wire::kPsnMask + 1) / 2;
  const uint32_t packets = wire::PacketsFor(send.length, link_.Mtu());
  const uint32_t outstanding =
      (next_psn_ - in_flight_.oldest_psn().value_or(next_psn_)) &
      wire::kPsnMask;
  if (outstanding + packets > kMaxOutstanding) return false;
  send.first_psn = next_psn_;
  next_psn_ = wire::PsnAfter(next_psn_, packets);
  send.last_psn = wire::PsnAfter(next_psn_, wire::kPsnMask);  // next_psn_ - 1
  send.started = true;
  return true;
}

// Says why, in the history.  Returns false.
bool Requester::Fail(PostedSend& send, uint32_t status, absl::string_view why) {
  if (!send.started) send.first_psn = next_psn_;
  qp_.history.Note(Incident::Kind::kDenied, send.first_psn, std::string(why));
  sends_.Fail(send, status);
  return false;
}

// Returns false if the send has failed.
bool Requester::FindLength(PostedSend& send) {
  if (send.request.inline_data != nullptr) {
    send.length = send.request.inline_data->size();
  } else {
    const auto ranges = send.FindMemory(qp_);
    if (!ranges.ok()) {
      return Fail(send, verbs::wc_status::kLocalProtection,
                  ranges.status().message());
    }
    send.length = verbs::LengthOf(*ranges);
    if (!IsWhatWasRead(send.request, *ranges)) send.request.read_data = nullptr;
  }
  constexpr size_t kLongest = size_t{1} << 31;
  const bool datagram = qp_.init.type == verbs::QpType::kUd;
  const size_t longest = datagram ? link_.Mtu() : kLongest;
  if (send.length > longest) {
    return Fail(
        send, verbs::wc_status::kLocalLength,
        absl::StrFormat("%d bytes: %s has at most %d", send.length,
                        datagram ? "a datagram on this port" : "a message",
                        longest));
  }
  if (send.IsAtomic() && send.length != kAtomicBytes) {
    return Fail(send, verbs::wc_status::kLocalLength,
                absl::StrFormat("%d bytes: the result of an atomic operation "
                                "has %d",
                                send.length, kAtomicBytes));
  }
  return true;
}

void Requester::Gather(PostedSend& send) {
  const auto ranges = send.FindMemory(qp_);
  if (!ranges.ok()) {
    Fail(send, verbs::wc_status::kLocalProtection, ranges.status().message());
    return;
  }
  const size_t size = std::min(send.length - send.emitted, verbs::kChunk);
  const verbs::Buffer buffer = qp_.bounces.Take(size);
  verbs::MemoryTransfer transfer;
  transfer.Add(verbs::PartOf(*ranges, send.emitted, size), buffer, 0);
  gathering_ = true;
  transfer.Read(
      qp_.guard.Wrap([this, &send, buffer](const absl::Status& status) {
        gathering_ = false;
        if (!status.ok()) {
          Fail(send, verbs::wc_status::kLocalProtection, status.message());
          return;
        }
        SendChunk(send, buffer);
        Pump();
      }));
}

// Sends the next packets of a message.  `buffer` holds their payload; null: no
// payload.  A datagram is a single packet:
// FindLength() has refused longer ones.
void Requester::SendChunk(PostedSend& send, const verbs::Buffer& buffer) {
  std::shared_ptr<Transport> packets =
      send.TakePackets(qp_.init.type, link_.Mtu(), buffer);
  if (qp_.IsReliable()) {
    in_flight_.Send(std::move(packets), nullptr);
  } else if (qp_.init.type == verbs::QpType::kUd) {
    link_.TransmitDatagram(std::move(packets), send);
  } else {
    link_.Transmit(std::move(packets));
  }
  if (send.emitted == send.length) FinishSending(send);
}

// Ends a send all of whose packets have left.
void Requester::FinishSending(PostedSend& send) {
  sends_.Advance();
  if (qp_.IsReliable()) return;
  send.complete = true;
  sends_.Complete();
  TellIfDrained();
}

void Requester::OnAnswer(const Transport& answer) {
  if (in_flight_.empty()) return;
  // Acknowledgements of packets that were not sent are invalid.
  if (wire::PsnDistance(answer.psn, wire::PsnAfter(next_psn_, wire::kPsnMask)) >
      0) {
    return;
  }
  if (answer.operation != Transport::Operation::kAcknowledge) {
    return OnResponse(answer);
  }
  // A NAK acknowledges the packets before its own.
  const uint32_t before = wire::PsnAfter(answer.psn, wire::kPsnMask);
  switch (answer.syndrome) {
    case Syndrome::kAck:
      return Acknowledge(answer.psn);
    case Syndrome::kSequenceError:
      qp_.history.Note(Incident::Kind::kSentAgain, answer.psn,
                       "the peer missed it (NAK: PSN sequence error)");
      ++qp_.counters.packet_seq_err;
      Acknowledge(before);
      if (in_flight_.waits_for_receiver()) return;  // it retransmits later
      if (qp_.state == State::kReadyToSend ||
          qp_.state == State::kSendQueueDrain) {
        in_flight_.Retransmit();
      }
      return;
    case Syndrome::kRnrNak:
      Acknowledge(before);
      return in_flight_.OnRnrNak(answer.rnr_timer);
    case Syndrome::kInvalidRequest:
      ++qp_.counters.req_remote_invalid_request;
      return OnRefusal(answer.psn, verbs::wc_status::kRemoteInvalidRequest);
    case Syndrome::kAccessError:
      ++qp_.counters.req_remote_access_errors;
      return OnRefusal(answer.psn, verbs::wc_status::kRemoteAccess);
    case Syndrome::kOperationError:
      return OnRefusal(answer.psn, verbs::wc_status::kRemoteOperation);
  }
}

// Handles a NAK that ends the connection.  RDMA READs before the failed request
// may still be waiting for memory: they complete first.
void Requester::OnRefusal(uint32_t psn, uint32_t status) {
  qp_.history.Note(Incident::Kind::kRefused, psn,
                   absl::StrCat("NAK of the peer: ",
                                Absl(verbs::wc_status::NameOf(status))));
  Acknowledge(wire::PsnAfter(psn, wire::kPsnMask));
  if (PostedSend* const send = sends_.FindFrom(psn)) {
    sends_.Fail(*send, status);
  }
}

// A response acknowledges the packets before it.
void Requester::OnResponse(const Transport& response) {
  Acknowledge(wire::PsnAfter(response.psn, wire::kPsnMask));
  const std::shared_ptr<FetchInFlight> fetch = in_flight_.FirstUnanswered();
  if (fetch == nullptr) return;
  if (response.packets > 1 && response.psn != fetch->next_psn) {
    // Some of the packets are duplicates, or all are out of sequence.
    for (uint32_t i = 0; i < response.packets && qp_.Receives(); ++i) {
      OnResponse(response.Single(i));
    }
    return;
  }
  fetches_.OnResponse(fetch, response);
}

void Requester::Acknowledge(uint32_t psn) {
  if (!in_flight_.Acknowledge(psn)) return;
  sends_.CompleteBefore(in_flight_.oldest_psn());
  TellIfDrained();
  Pump();
}

void Requester::Drain(bool tells) {
  tells_drained_ = tells;
  TellIfDrained();
}

// A message that has started is sent and acknowledged completely; no other one
// starts (IBA vol 1 §10.3.1.5).
bool Requester::IsDrained() const {
  return in_flight_.empty() &&
         (!sends_.HasCurrent() || !sends_.current().started);
}

void Requester::TellIfDrained() {
  if (qp_.state != State::kSendQueueDrain || !tells_drained_ || !IsDrained()) {
    return;
  }
  tells_drained_ = false;
  qp_.listener.OnEvent(verbs::AsyncEventType::kSendQueueDrained);
}

void Requester::Flush() {
  ForgetPackets();
  sends_.Flush();
}

void Requester::Reset() {
  ForgetPackets();
  sends_.Reset();
}

void Requester::ForgetPackets() {
  in_flight_.Reset();
  fetches_.Reset();
  gathering_ = tells_drained_ = false;
}

}  // namespace ibemu::fabric
