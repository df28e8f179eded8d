// QueuePairNotes: the writer of a queue pair's own entries in its history.
#ifndef IBEMU_FABRIC_SOFT_HCA_QUEUE_PAIR_NOTES_H_
#define IBEMU_FABRIC_SOFT_HCA_QUEUE_PAIR_NOTES_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "fabric/history/queue_pair_history.h"
#include "fabric/packet/transport.h"
#include "fabric/soft_hca/transport/queue_pair_context.h"
#include "fabric/soft_hca/transport/send_queue.h"
#include "verbs/hw_counters.h"
#include "verbs/parts/receive_queue.h"
#include "verbs/qp_attributes.h"

namespace ibemu::fabric {

// The QueuePairNotes of a queue pair say of its own changes, and of messages
// that it did not take, what `ibemu why` tells of them.  Its requester and its
// responder note what becomes of requests.
class QueuePairNotes {
 public:
  using Psn = QueuePairHistory::Psn;

  // All must outlive this.
  QueuePairNotes(const QueuePairContext& qp, const SendQueue& sends,
                 const verbs::ReceiveQueue& receives)
      : qp_(qp), sends_(sends), receives_(receives) {}

  // The program changes the state to `to`.
  void State(verbs::QpState to);
  // The queue pair will enter the error state `to`, which the program did not
  // ask for, and why: "as a work request failed".  The first of the requests
  // that will be flushed is the one that failed.
  void Error(verbs::QpState to, absl::string_view why);
  // What it is set to, unless it takes no packets yet.  `counters`: since it
  // was last reset.
  void Facts(const verbs::HwCounters& counters);
  // Who its peer is.
  void Peer();
  // It has moved to its alternate path.
  void Moved(absl::string_view why);
  // It was reset: what happened before is over.
  void Restart();

  // It does not take a packet.
  void NotTaken(const Transport& packet, absl::string_view why);
  // A fault keeps its receive requests back from a message.
  void KeptBack(Psn psn, absl::string_view fault);
  // There was no receive request for a message, `what`: "datagram".
  void NoReceive(Psn psn, absl::string_view what);
  // A completion was lost.
  void LostCompletion();

 private:
  // Returns "RTS to ERR, by the program" of a change to `to`.
  std::string ChangeText(verbs::QpState to, absl::string_view why) const;

  const QueuePairContext& qp_;
  const SendQueue& sends_;
  const verbs::ReceiveQueue& receives_;
  uint64_t kept_back_ = 0;  // messages that faults kept receive requests from
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_QUEUE_PAIR_NOTES_H_
