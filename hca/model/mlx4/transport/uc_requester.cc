#include "hca/model/mlx4/transport/uc_requester.h"

#include <utility>

#include "hca/model/mlx4/transport/outgoing_message.h"
#include "wire/psn.h"

namespace ibemu::hca::model::mlx4 {

using prm::CqeSyndrome;
using prm::WqeOpcode;

namespace {

constexpr int kTurn = 64;  // packets

}  // namespace

void UcRequester::Pump() {
  if (turn_ != TimerId::kNone) return;  // it is the turn of other work
  for (int i = 0; i < kTurn; ++i) {
    if (!message_ && !Begin()) return;
    if (message_) SendPart();
  }
  turn_ = timers_.RunAfter(absl::ZeroDuration(), [this] {
    turn_ = TimerId::kNone;
    Pump();
  });
}

bool UcRequester::Begin() {
  SendWqe wqe;
  switch (link_.FetchSend(wqe)) {
    case ModelSendQueue::Fetched::kNone:
      return false;
    case ModelSendQueue::Fetched::kFault:
      link_.Break(prm::EqeType::kWqCatastrophicError);
      return false;
    case ModelSendQueue::Fetched::kMalformed:
      Fail(wqe, CqeSyndrome::kLocalQpOperation);
      return false;
    case ModelSendQueue::Fetched::kWqe:
      break;
  }
  if (wqe.control.opcode == WqeOpcode::kNop) {
    link_.EndSend(wqe, 0);
    return true;
  }
  if (!IsMessage(wqe.control.opcode)) {
    Fail(wqe, CqeSyndrome::kLocalQpOperation);
    return false;
  }
  if (wqe.length > uint64_t{1} << link_.qp().log_msg_max) {
    Fail(wqe, CqeSyndrome::kLocalLength);
    return false;
  }
  message_ = std::move(wqe);
  sent_ = 0;
  return true;
}

void UcRequester::SendPart() {
  const std::optional<OutgoingPart> part = CutPart(link_, *message_, sent_);
  if (!part) {
    Fail(*std::exchange(message_, std::nullopt), CqeSyndrome::kLocalProtection);
    return;
  }
  link_.Send({.operation = part->operation,
              .psn = next_psn_,
              .solicited = part->solicited},
             part->headers, part->payload);
  next_psn_ = wire::PsnAfter(next_psn_, 1);
  ++sent_;
  if (!part->last) return;
  const SendWqe wqe = *std::exchange(message_, std::nullopt);
  link_.EndSend(wqe, static_cast<uint32_t>(wqe.length));
}

void UcRequester::Drain() {
  EndTurn();
  while (message_) SendPart();
}

void UcRequester::Fail(const SendWqe& wqe, CqeSyndrome syndrome) {
  link_.AbortSend(wqe, syndrome);
  link_.StopSends();
}

void UcRequester::Flush() {
  EndTurn();
  if (message_) {
    link_.AbortSend(*std::exchange(message_, std::nullopt),
                    CqeSyndrome::kFlushed);
  }
}

void UcRequester::EndTurn() {
  timers_.Cancel(std::exchange(turn_, TimerId::kNone));
}

}  // namespace ibemu::hca::model::mlx4
