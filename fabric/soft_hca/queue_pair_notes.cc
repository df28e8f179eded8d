#include "fabric/soft_hca/queue_pair_notes.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "fabric/history/incident.h"
#include "fabric/history/queue_pair_facts.h"
#include "verbs/provider.h"
#include "verbs/wc_status.h"
#include "wire/types.h"

namespace ibemu::fabric {

using verbs::QpState;

std::string QueuePairNotes::ChangeText(QpState to,
                                       absl::string_view why) const {
  return absl::StrCat(Absl(verbs::NameOf(qp_.state)), " to ",
                      Absl(verbs::NameOf(to)), ", ", why);
}

void QueuePairNotes::State(QpState to) {
  if (qp_.state == to) return;
  qp_.history.Note(Incident::Kind::kState, std::nullopt,
                   ChangeText(to, "by the program"));
}

void QueuePairNotes::Error(QpState to, absl::string_view why) {
  if (qp_.state == to) return;
  qp_.history.NoteError(ChangeText(to, why));
  if (qp_.history.failure()) return;
  if (const PostedSend* const send = sends_.oldest()) {
    qp_.history.NoteFailure({.id = send->request.work.wr_id,
                             .status = verbs::wc_status::kFlushed,
                             .psn = send->first_psn,
                             .what = std::string(send->Name())});
  } else if (const verbs::ReceiveRequest* const receive = receives_.oldest()) {
    qp_.history.NoteFailure({.id = receive->id,
                             .status = verbs::wc_status::kFlushed,
                             .what = "RECV"});
  }
}

void QueuePairNotes::Facts(const verbs::HwCounters& counters) {
  if (qp_.state < QpState::kReadyToReceive) return;
  const verbs::QpInit& init = qp_.init;
  QueuePairFacts facts = {.type = init.type,
                          .attributes = qp_.attributes,
                          .signal_all = init.signal_all,
                          .send_requests = init.capacity.send_requests,
                          .receive_requests = init.capacity.receive_requests,
                          .send_cq_size = init.send_cq->size(),
                          .receive_cq_size = init.receive_cq->size(),
                          .one_cq = init.send_cq == init.receive_cq,
                          .kept_back = kept_back_,
                          .counters = counters};
  if (qp_.state != QpState::kError) {
    facts.may_send = qp_.state != QpState::kReadyToReceive;
    facts.sends_taken = static_cast<uint32_t>(sends_.taken());
    facts.signaled = sends_.signaled();
    facts.send_cq_unpolled = static_cast<uint32_t>(qp_.send_cq().unpolled());
    facts.receive_cq_unpolled =
        static_cast<uint32_t>(qp_.receive_cq().unpolled());
  } else if (const auto& before = qp_.history.facts()) {
    facts.may_send = before->may_send;
    facts.sends_taken = before->sends_taken;
    facts.signaled = before->signaled;
    facts.send_cq_unpolled = before->send_cq_unpolled;
    facts.receive_cq_unpolled = before->receive_cq_unpolled;
  }
  qp_.history.SetFacts(facts);
}

void QueuePairNotes::Peer() {
  qp_.history.SetPeer({.lid = wire::Lid{qp_.attributes.ah_attr.dlid},
                       .qpn = qp_.attributes.dest_qp_num});
}

void QueuePairNotes::Moved(absl::string_view why) {
  Peer();
  qp_.history.Note(
      Incident::Kind::kMigrated, std::nullopt,
      absl::StrFormat("to LID %d by port %d, %s", qp_.attributes.ah_attr.dlid,
                      qp_.attributes.port_num, why));
  qp_.history.SetAttributes(qp_.attributes);
}

void QueuePairNotes::Restart() {
  qp_.history.Restart();
  kept_back_ = 0;
}

void QueuePairNotes::NotTaken(const Transport& packet, absl::string_view why) {
  const bool connected = qp_.init.type != verbs::QpType::kUd;
  qp_.history.Note(Incident::Kind::kNotTaken,
                   connected ? std::optional(packet.psn) : std::nullopt,
                   std::string(why));
}

void QueuePairNotes::KeptBack(Psn psn, absl::string_view fault) {
  ++kept_back_;
  qp_.history.Note(Incident::Kind::kKeptBack, psn,
                   absl::StrCat(fault, " keeps its receive requests back"));
}

void QueuePairNotes::NoReceive(Psn psn, absl::string_view what) {
  qp_.history.Note(Incident::Kind::kNoReceive, psn,
                   absl::StrCat("a ", what,
                                " came, and there was no receive request for "
                                "it"));
}

void QueuePairNotes::LostCompletion() {
  qp_.history.Note(Incident::Kind::kDenied, std::nullopt,
                   "a completion was lost: its completion queue is full");
}

}  // namespace ibemu::fabric
