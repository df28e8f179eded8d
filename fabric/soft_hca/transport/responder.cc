#include "fabric/soft_hca/transport/responder.h"

#include "verbs/parts/bounce_buffers.h"
#include "wire/psn.h"

namespace ibemu::fabric {

void Responder::OnRequest(const Transport& request) {
  if (request.packets > 1 && request.psn != expected_psn_) {
    // Some of the packets are duplicates, or all are out of sequence.
    for (uint32_t i = 0; i < request.packets && qp_.Receives(); ++i) {
      OnRequest(request.Single(i));
    }
    return;
  }
  if (refused_ || !InSequence(request)) return;
  if (qp_.state == verbs::QpState::kReadyToReceive && !established_) {
    established_ = true;
    qp_.listener.OnEvent(verbs::AsyncEventType::kCommunicationEstablished);
  }
  if (IsFetch(request)) return OnFetch(request);
  const PartialMessage::Placed placed = message_.Add(request);
  if (placed != PartialMessage::Placed::kOk) return OnFault(placed);
  if (request.operation == Transport::Operation::kWrite && request.first) {
    ++qp_.counters.rx_write_requests;
  }
  expected_psn_ = wire::PsnAfter(expected_psn_, request.packets);
  if (request.last) {
    WritePayload(request, message_.End(request));
  } else if (request.ack_request || message_.size() >= verbs::kChunk) {
    WritePayload(request, std::nullopt);
  }
}

void Responder::WritePayload(const Transport& request,
                             std::optional<verbs::WorkCompletion> completion) {
  steps_.Write(message_.TakePayload(),
               {.acknowledge = qp_.IsReliable() && request.ack_request,
                .psn = request.last_psn(),
                .completion = completion,
                .solicited = request.solicited,
                .receives = message_.receives()});
}

void Responder::Flush() { message_.Flush(steps_.Flush()); }

void Responder::Reset() {
  refused_ = established_ = false;
  message_.Reset();
  steps_.Reset();
  ResetService();
}

}  // namespace ibemu::fabric
