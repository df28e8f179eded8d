#include "fabric/soft_hca/transport/packets_in_flight.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "verbs/wc_status.h"
#include "wire/psn.h"
#include "wire/rnr_timer.h"

namespace ibemu::fabric {

void PacketsInFlight::Start(uint32_t psn) {
  acknowledged_psn_ = wire::PsnAfter(psn, wire::kPsnMask);  // psn - 1
}

void PacketsInFlight::RenewRetries() {
  retries_left_ = qp_.attributes.retry_cnt;
  rnr_retries_left_ = qp_.attributes.rnr_retry;
  timeouts_ = 0;
}

void PacketsInFlight::OnNewPath() {
  RenewRetries();
  ArmRetryTimer();
}

std::optional<uint32_t> PacketsInFlight::oldest_psn() const {
  if (packets_.empty()) return std::nullopt;
  return packets_.front().packets->psn;
}

std::shared_ptr<FetchInFlight> PacketsInFlight::FirstUnanswered() const {
  const auto first =
      std::find_if(packets_.begin(), packets_.end(), [](const InFlight& sent) {
        return sent.fetch != nullptr && !sent.fetch->answered;
      });
  return first == packets_.end() ? nullptr : first->fetch;
}

void PacketsInFlight::Send(std::shared_ptr<Transport> packets,
                           std::shared_ptr<FetchInFlight> fetch) {
  bytes_ += packets->size;
  packets_.push_back({packets, std::move(fetch)});
  ArmRetryTimer();
  link_.Transmit(std::move(packets));
}

bool PacketsInFlight::IsEnded(const InFlight& sent) const {
  return sent.fetch != nullptr
             ? sent.fetch->complete
             : wire::PsnDistance(acknowledged_psn_, sent.packets->last_psn()) >=
                   0;
}

bool PacketsInFlight::Acknowledge(uint32_t psn) {
  // The acknowledged PSN may be ahead of READ data that still waits for memory.
  bool progress = wire::PsnDistance(psn, acknowledged_psn_) > 0;
  if (progress) acknowledged_psn_ = psn;
  while (!packets_.empty() && IsEnded(packets_.front())) {
    bytes_ -= packets_.front().packets->size;
    packets_.pop_front();
    progress = true;
  }
  if (!progress) return false;
  RenewRetries();
  ArmRetryTimer();
  return true;
}

void PacketsInFlight::OnResponse() {
  retries_left_ = qp_.attributes.retry_cnt;
  timeouts_ = 0;
  ArmRetryTimer();
}

void PacketsInFlight::OnRnrNak(uint8_t timer) {
  if (packets_.empty() || waits_for_receiver_) return;
  ++qp_.counters.rnr_nak_retry_err;
  constexpr int kForEver = 7;
  if (qp_.attributes.rnr_retry != kForEver && rnr_retries_left_-- == 0) {
    return listener_.OnRetriesExceeded(verbs::wc_status::kRnrRetriesExceeded);
  }
  const auto wait = absl::Microseconds(wire::RnrMicroseconds(timer));
  qp_.history.Note(Incident::Kind::kNotReady, packets_.front().packets->psn,
                   absl::StrCat("the peer had no receive request: again in ",
                                absl::FormatDuration(wait)));
  waits_for_receiver_ = true;
  qp_.timers.Cancel(std::exchange(retry_timer_, TimerId::kNone));
  qp_.timers.RunAfter(wait, qp_.guard.Wrap([this] {
    waits_for_receiver_ = false;
    Retransmit();
    listener_.OnReceiverReady();
  }));
}

// Returns true if the packets wait for an answer of the peer.  Otherwise they
// wait for local memory.
bool PacketsInFlight::AwaitsPeer(const InFlight& sent) const {
  return sent.fetch != nullptr ? !sent.fetch->answered
                               : wire::PsnDistance(sent.packets->last_psn(),
                                                   acknowledged_psn_) > 0;
}

// Returns what the peer has not acknowledged, or not answered.
std::shared_ptr<const Transport> PacketsInFlight::RestOf(
    const InFlight& sent) const {
  const std::shared_ptr<Transport>& packets = sent.packets;
  if (sent.fetch == nullptr) {
    const int32_t arrived =
        wire::PsnDistance(acknowledged_psn_, packets->psn) + 1;
    return arrived <= 0 ? packets
                        : std::make_shared<Transport>(
                              packets->After(static_cast<uint32_t>(arrived)));
  }
  const FetchInFlight& fetch = *sent.fetch;
  if (fetch.send.IsAtomic()) return packets;
  // A READ is repeated from its first missing response on.
  auto again = std::make_shared<Transport>(*packets);
  again->psn = fetch.next_psn;
  again->address += fetch.received;
  again->length -= static_cast<uint32_t>(fetch.received);
  return again;
}

void PacketsInFlight::Retransmit() {
  for (const InFlight& sent : packets_) {
    if (AwaitsPeer(sent)) link_.Transmit(RestOf(sent));
  }
  ArmRetryTimer();
}

void PacketsInFlight::ArmRetryTimer() {
  qp_.timers.Cancel(std::exchange(retry_timer_, TimerId::kNone));
  if (waits_for_receiver_) return;  // Retransmit() will follow
  const bool waits =
      std::any_of(packets_.begin(), packets_.end(),
                  [this](const InFlight& sent) { return AwaitsPeer(sent); });
  if (!waits || qp_.attributes.timeout == 0) return;
  retry_timer_ = qp_.timers.RunAfter(Timeout(), qp_.guard.Wrap([this] {
    retry_timer_ = TimerId::kNone;
    OnRetryTimeout();
  }));
}

// Returns the local ACK timeout, IBA vol 1 §9.7.6.1.3.
absl::Duration PacketsInFlight::Timeout() const {
  return absl::Nanoseconds(4096) * (int64_t{1} << qp_.attributes.timeout);
}

// Retransmits after a timeout.  The specification lets a retry take up to four
// times the timeout.  A retry is counted only after all of that time, because
// on a busy machine the worker of the peer may be late, but lost packets are
// sent again after each single timeout.
void PacketsInFlight::OnRetryTimeout() {
  constexpr int kMax = 4;
  qp_.history.Note(
      Incident::Kind::kSentAgain, packets_.front().packets->psn,
      absl::StrCat("no answer within ", absl::FormatDuration(Timeout())),
      Timeout());
  ++qp_.counters.local_ack_timeout_err;
  if (++timeouts_ % kMax == 0 && retries_left_-- == 0) {
    if (!link_.MoveToAlternatePath("as no retries were left")) {
      return listener_.OnRetriesExceeded(verbs::wc_status::kRetriesExceeded);
    }
    RenewRetries();
  }
  Retransmit();
}

void PacketsInFlight::Reset() {
  qp_.timers.Cancel(std::exchange(retry_timer_, TimerId::kNone));
  packets_.clear();
  bytes_ = 0;
  waits_for_receiver_ = false;
}

}  // namespace ibemu::fabric
