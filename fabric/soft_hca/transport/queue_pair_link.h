// QueuePairLink: the queue pair, as its requester and its responder use it.
#ifndef IBEMU_FABRIC_SOFT_HCA_TRANSPORT_QUEUE_PAIR_LINK_H_
#define IBEMU_FABRIC_SOFT_HCA_TRANSPORT_QUEUE_PAIR_LINK_H_

#include <cstddef>
#include <memory>
#include <optional>

#include "absl/strings/string_view.h"
#include "fabric/packet/transport.h"
#include "fabric/soft_hca/faults/completion_fate.h"
#include "fabric/soft_hca/transport/queue_pair_context.h"
#include "verbs/provider.h"

namespace ibemu::fabric {

struct PostedSend;

// The interface of a queue pair to the parts that it is made of.  No call but
// EnterError() and EnterSendQueueError() calls back before it returns.
class QueuePairLink {
 public:
  // Always returns the same object.
  virtual const QueuePairContext& qp() const = 0;

  // Returns the payload of a full packet, in bytes.
  virtual size_t Mtu() const = 0;

  // Sends packets to the peer of a connection.
  virtual void Transmit(std::shared_ptr<const Transport> packets) = 0;
  // Sends a datagram to the address of `send`.
  virtual void TransmitDatagram(std::shared_ptr<const Transport> packet,
                                const PostedSend& send) = 0;

  // Takes the oldest receive request for a `what`, "datagram", that came with
  // this PSN; nothing if there is none, or a fault keeps it back, which is
  // noted.
  virtual std::optional<verbs::ReceiveRequest> TakeReceive(
      QueuePairHistory::Psn psn, absl::string_view what) = 0;
  // Gives a receive request back, as the oldest.
  virtual void PutBackReceive(verbs::ReceiveRequest request) = 0;

  // EnterError() puts the queue pair into the error state, in which all its
  // requests are flushed.  EnterSendQueueError() puts it into the state in
  // which it still receives (IBA vol 1 §10.3.1.6); the caller flushes the send
  // queue.  `why`, "as a work request failed", is for people.
  virtual void EnterError(absl::string_view why) = 0;
  virtual void EnterSendQueueError(absl::string_view why) = 0;
  // Moves the connection to its alternate path, if it is armed; returns whether
  // it was (IBA vol 1 §17.2.8).  `why`, as above.
  virtual bool MoveToAlternatePath(absl::string_view why) = 0;
  // Returns what becomes of the next successful completion of a queue.
  virtual CompletionFate FateOf(WorkQueue queue) = 0;
  // A completion was lost, because its completion queue is in error: the queue
  // pair enters the error state soon, and its listener hears of a fatal error.
  virtual void OnLostCompletion() = 0;

  // Completes the receive request `id`, which got no message.
  void FlushReceive(uint64_t id, uint32_t status) {
    ++qp().counters.resp_cqe_flush_error;
    if (!qp().FlushReceive(id, status)) OnLostCompletion();
  }

 protected:
  ~QueuePairLink() = default;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_TRANSPORT_QUEUE_PAIR_LINK_H_
