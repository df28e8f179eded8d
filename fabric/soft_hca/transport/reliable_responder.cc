#include "fabric/soft_hca/transport/reliable_responder.h"

#include <memory>
#include <utility>

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
    OnDuplicate(request);
  } else if (!std::exchange(told_of_gap_, true)) {
    SendNak(Syndrome::kSequenceError);
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
  if (message_.begun() || qp_.attributes.max_dest_rd_atomic == 0) {
    return Refuse(Syndrome::kInvalidRequest);
  }
  const uint32_t right = request.IsAtomic() ? verbs::access::kRemoteAtomic
                                            : verbs::access::kRemoteRead;
  if ((qp_.attributes.qp_access_flags & right) == 0 ||
      !qp_.keys
           .Find(request.key, qp_.init.pd, request.address, request.length,
                 right)
           .ok()) {
    return Refuse(Syndrome::kAccessError);
  }
  if (request.IsAtomic() && request.address % kAtomicBytes != 0) {
    return Refuse(Syndrome::kInvalidRequest);
  }
  expected_psn_ = wire::PsnAfter(expected_psn_,
                                 wire::PacketsFor(request.length, link_.Mtu()));
  steps_.Add(
      {.psn = request.psn, .fetch = std::make_shared<Transport>(request)});
}

void ReliableResponder::OnFault(PartialMessage::Placed fault) {
  switch (fault) {
    case PartialMessage::Placed::kOk:
      return;
    case PartialMessage::Placed::kInvalid:
      return Refuse(Syndrome::kInvalidRequest);
    case PartialMessage::Placed::kAccess:
      return Refuse(Syndrome::kAccessError);
    case PartialMessage::Placed::kNoReceive:
      told_of_gap_ = true;  // the RNR NAK explains the gap that follows
      return SendNak(Syndrome::kRnrNak);
    case PartialMessage::Placed::kTooLong:
      return RefuseReceive(verbs::wc_status::kLocalLength,
                           Syndrome::kInvalidRequest);
    case PartialMessage::Placed::kProtection:
      return RefuseReceive(verbs::wc_status::kLocalProtection,
                           Syndrome::kOperationError);
  }
}

// Sends a NAK after the steps in progress, because it also acknowledges all
// packets before it.
void ReliableResponder::SendNak(Syndrome syndrome) {
  steps_.Add({.done = true, .psn = expected_psn_, .refusal = syndrome});
}

// Handles an invalid request: sends a NAK that ends the connection.
void ReliableResponder::Refuse(Syndrome syndrome) {
  refused_ = true;
  SendNak(syndrome);
}

// Handles a receive request that does not fit the message.
void ReliableResponder::RefuseReceive(uint32_t status, Syndrome syndrome) {
  steps_.Add({.done = true, .completion = message_.Fail(status)});
  Refuse(syndrome);
}

}  // namespace ibemu::fabric
