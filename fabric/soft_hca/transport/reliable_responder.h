// ReliableResponder: the receiving half of a reliable connection (IBA vol 1
// §9.7.4, §9.7.5).
#ifndef IBEMU_FABRIC_SOFT_HCA_TRANSPORT_RELIABLE_RESPONDER_H_
#define IBEMU_FABRIC_SOFT_HCA_TRANSPORT_RELIABLE_RESPONDER_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "fabric/soft_hca/transport/responder.h"

namespace ibemu::fabric {

// The responder of an RC queue pair.  It acknowledges what it received, answers
// RDMA READs and atomic operations, also repeated ones, and refuses what is
// invalid with a NAK that ends the connection.
class ReliableResponder final : public Responder {
 public:
  explicit ReliableResponder(QueuePairLink& link) : Responder(link) {}

 private:
  using Syndrome = Transport::Syndrome;
  using AsyncEventType = verbs::AsyncEventType;

  bool InSequence(const Transport& request) override;
  void OnFetch(const Transport& request) override;
  void OnFault(PartialMessage::Placed fault) override;
  void ResetService() override { told_of_gap_ = false; }

  void OnDuplicate(const Transport& request);
  void NoteDenied(const Transport& request, absl::string_view why);
  void SendNak(Syndrome syndrome, std::optional<AsyncEventType> event);
  void Refuse(Syndrome syndrome, std::optional<AsyncEventType> event);
  void RefuseReceive(uint32_t status, Syndrome syndrome);

  bool told_of_gap_ = false;  // a NAK asked for the expected packet
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_TRANSPORT_RELIABLE_RESPONDER_H_
