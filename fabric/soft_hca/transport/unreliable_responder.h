// UnreliableResponder: the receiving half of an unreliable connection (IBA vol
// 1 §9.8.2, §9.8.3).
#ifndef IBEMU_FABRIC_SOFT_HCA_TRANSPORT_UNRELIABLE_RESPONDER_H_
#define IBEMU_FABRIC_SOFT_HCA_TRANSPORT_UNRELIABLE_RESPONDER_H_

#include <cstddef>

#include "fabric/soft_hca/transport/responder.h"
#include "verbs/parts/bounce_buffers.h"

namespace ibemu::fabric {

// The responder of a UC queue pair.  It answers nothing.  A message that it
// can't receive, or that lacks a packet, is lost, and its receive request is
// kept for the next one.
class UnreliableResponder final : public Responder {
 public:
  // The limit on bytes that wait for memory.  The sender is not slowed down by
  // acknowledgements, so what comes beyond the limit is lost.
  static constexpr size_t kMaxWaiting = 64 * verbs::kChunk;

  explicit UnreliableResponder(QueuePairLink& link) : Responder(link) {}

 private:
  bool InSequence(const Transport& request) override;
  void OnFetch(const Transport& /*request*/) override { message_.Drop(); }
  void OnFault(PartialMessage::Placed fault) override;

  bool FollowsLast(const Transport& request);
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_TRANSPORT_UNRELIABLE_RESPONDER_H_
