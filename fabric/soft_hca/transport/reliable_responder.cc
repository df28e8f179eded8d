#include "fabric/soft_hca/transport/reliable_responder.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "fabric/soft_hca/transport/atomic_unit.h"
#include "verbs/wc_status.h"
#include "wire/psn.h"

namespace ibemu::fabric {

bool ReliableResponder::InSequence(const Transport& request) {
  const int32_t ahead = wire::PsnDistance(request.psn, expected_psn_);
  if (ahead == 0) {
    told_of_gap_ = false;
    return true;
  }
  if (ahead < 0) {
    ++qp_.counters.duplicate_request;
    OnDuplicate(request);
    return false;
  }
  ++qp_.counters.out_of_sequence;
  if (!std::exchange(told_of_gap_, true)) {
    qp_.history.Note(
        Incident::Kind::kNotTaken, request.psn,
        absl::StrFormat(
            "PSN %#x%s was to come first: asked for it", expected_psn_,
            expected_psn_ == qp_.attributes.rq_psn ? ", its rq_psn," : ""));
    SendNak(Syndrome::kSequenceError, std::nullopt);
  }
  return false;
}

// Answers a repeated request.  An RDMA READ is executed again.  An atomic
// operation is not: its result was kept.
void ReliableResponder::OnDuplicate(const Transport& request) {
  if (IsFetch(request)) {
    steps_.Add({.psn = request.psn,
                .fetch = std::make_shared<Transport>(request),
                .repeats = true});
  } else if (request.ack_request) {
    steps_.Add({.done = true,
                .acknowledge = true,
                .psn = wire::PsnAfter(expected_psn_, wire::kPsnMask)});
  }
}

void ReliableResponder::OnFetch(const Transport& request) {
  if (message_.begun()) {
    NoteDenied(request, "a request came before the last message had ended");
    return Refuse(Syndrome::kInvalidRequest, AsyncEventType::kQpRequestError);
  }
  if (qp_.attributes.max_dest_rd_atomic == 0) {
    NoteDenied(request, "max_dest_rd_atomic is 0: it takes no RDMA READ");
    return Refuse(Syndrome::kInvalidRequest, AsyncEventType::kQpAccessError);
  }
  const uint32_t right = request.IsAtomic() ? verbs::access::kRemoteAtomic
                                            : verbs::access::kRemoteRead;
  if ((qp_.attributes.qp_access_flags & right) == 0) {
    NoteDenied(request,
               request.IsAtomic()
                   ? "qp_access_flags of the queue pair lack remote atomics"
                   : "qp_access_flags of the queue pair lack remote read");
    ++qp_.counters.resp_remote_access_errors;
    return Refuse(Syndrome::kAccessError, AsyncEventType::kQpAccessError);
  }
  const auto memory = qp_.keys.Find(request.key, qp_.init.pd, request.address,
                                    request.length, right);
  if (!memory.ok()) {
    NoteDenied(request, memory.status().message());
    ++qp_.counters.resp_remote_access_errors;
    return Refuse(Syndrome::kAccessError, AsyncEventType::kQpAccessError);
  }
  if (request.IsAtomic() && request.address % kAtomicBytes != 0) {
    NoteDenied(request,
               absl::StrFormat("the address %#x of an atomic operation is no "
                               "multiple of %d",
                               request.address, kAtomicBytes));
    return Refuse(Syndrome::kInvalidRequest, AsyncEventType::kQpAccessError);
  }
  ++(request.IsAtomic() ? qp_.counters.rx_atomic_requests
                        : qp_.counters.rx_read_requests);
  expected_psn_ = wire::PsnAfter(expected_psn_,
                                 wire::PacketsFor(request.length, link_.Mtu()));
  steps_.Add(
      {.psn = request.psn, .fetch = std::make_shared<Transport>(request)});
}

void ReliableResponder::NoteDenied(const Transport& request,
                                   absl::string_view why) {
  qp_.history.Note(Incident::Kind::kDenied, request.psn, std::string(why));
}

// kQpRequestError is for operations out of order, kQpAccessError for what they
// ask for: keys, lengths, alignment, too many RDMA READs.
void ReliableResponder::OnFault(PartialMessage::Placed fault) {
  switch (fault) {
    case PartialMessage::Placed::kOk:
      return;
    case PartialMessage::Placed::kInvalid:
      return Refuse(Syndrome::kInvalidRequest, AsyncEventType::kQpRequestError);
    case PartialMessage::Placed::kBadLength:
      return Refuse(Syndrome::kInvalidRequest, AsyncEventType::kQpAccessError);
    case PartialMessage::Placed::kAccess:
      ++qp_.counters.resp_remote_access_errors;
      return Refuse(Syndrome::kAccessError, AsyncEventType::kQpAccessError);
    case PartialMessage::Placed::kNoReceive:
      ++qp_.counters.out_of_buffer;
      told_of_gap_ = true;  // the RNR NAK explains the gap that follows
      return SendNak(Syndrome::kRnrNak, std::nullopt);
    case PartialMessage::Placed::kTooLong:
      ++qp_.counters.resp_local_length_error;
      return RefuseReceive(verbs::wc_status::kLocalLength,
                           Syndrome::kInvalidRequest);
    case PartialMessage::Placed::kProtection:
      return RefuseReceive(verbs::wc_status::kLocalProtection,
                           Syndrome::kOperationError);
  }
}

// Sends a NAK after the steps in progress, because it also acknowledges all
// packets before it.
void ReliableResponder::SendNak(Syndrome syndrome,
                                std::optional<AsyncEventType> event) {
  steps_.Add({.done = true,
              .psn = expected_psn_,
              .refusal = syndrome,
              .event = event});
}

// Handles an invalid request: sends a NAK that ends the connection.
void ReliableResponder::Refuse(Syndrome syndrome,
                               std::optional<AsyncEventType> event) {
  refused_ = true;
  SendNak(syndrome, event);
}

// Handles a receive request that does not fit the message.  Its completion
// tells of the error.
void ReliableResponder::RefuseReceive(uint32_t status, Syndrome syndrome) {
  steps_.Add({.done = true, .completion = message_.Fail(status)});
  Refuse(syndrome, std::nullopt);
}

}  // namespace ibemu::fabric
