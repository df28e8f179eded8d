#include "fabric/soft_hca/transport/unreliable_responder.h"

#include "absl/strings/str_format.h"
#include "verbs/wc_status.h"
#include "wire/psn.h"

namespace ibemu::fabric {

bool UnreliableResponder::InSequence(const Transport& request) {
  if (!FollowsLast(request)) return false;
  if (steps_.writing_bytes() < kMaxWaiting) return true;
  message_.Drop();
  return false;
}

// Returns true if the packets continue a message or begin one.  After a lost
// packet, the rest of its message is dropped, too.
bool UnreliableResponder::FollowsLast(const Transport& request) {
  if (request.psn == expected_psn_ && (request.first || message_.begun())) {
    return true;
  }
  if (request.psn != expected_psn_) {
    qp_.history.Note(Incident::Kind::kNotTaken, request.psn,
                     absl::StrFormat("PSN %#x was to come first: what is "
                                     "missing is lost",
                                     expected_psn_));
  }
  message_.Drop();
  expected_psn_ =
      request.first ? request.psn : wire::PsnAfter(request.last_psn(), 1);
  return request.first;
}

// A receive request whose memory is not accessible ends the connection (IBA vol
// 1 §9.9.3).
void UnreliableResponder::OnFault(PartialMessage::Placed fault) {
  if (fault != PartialMessage::Placed::kProtection) return message_.Drop();
  refused_ = true;
  steps_.Add({.done = true,
              .completion = message_.Fail(verbs::wc_status::kLocalProtection),
              .breaks = true});
}

}  // namespace ibemu::fabric
