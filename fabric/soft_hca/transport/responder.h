// Responder: the receiving half of a connection.
#ifndef IBEMU_FABRIC_SOFT_HCA_TRANSPORT_RESPONDER_H_
#define IBEMU_FABRIC_SOFT_HCA_TRANSPORT_RESPONDER_H_

#include <cstdint>
#include <optional>

#include "fabric/packet/transport.h"
#include "fabric/soft_hca/transport/partial_message.h"
#include "fabric/soft_hca/transport/queue_pair_link.h"
#include "fabric/soft_hca/transport/responder_steps.h"
#include "verbs/provider.h"

namespace ibemu::fabric {

// The responder of a connection.  It receives messages, packet by packet, and
// puts them into memory.  What it does about packets that are lost, repeated or
// invalid depends on the service.
class Responder {
 public:
  virtual ~Responder() = default;
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;

  // The next packet has PSN `psn`.
  void Start(uint32_t psn) { expected_psn_ = psn; }
  uint32_t expected_psn() const { return expected_psn_; }

  // Handles request packets.
  void OnRequest(const Transport& request);

  // The queue pair is in error: flushes the receive requests that messages have
  // taken.
  void Flush();
  void Reset();

 protected:
  explicit Responder(QueuePairLink& link)
      : link_(link), qp_(link.qp()), message_(link), steps_(link) {}

  // Returns true for the request of an RDMA READ or an atomic operation, whose
  // response carries data.
  static bool IsFetch(const Transport& request) {
    return request.IsAtomic() ||
           request.operation == Transport::Operation::kReadRequest;
  }

  // Returns true if the packets are those that are expected next, and are to be
  // received.
  virtual bool InSequence(const Transport& request) = 0;
  // Handles the request of an RDMA READ or an atomic operation.
  virtual void OnFetch(const Transport& request) = 0;
  // Handles packets that PartialMessage did not take, because of `fault`.
  virtual void OnFault(PartialMessage::Placed fault) = 0;
  virtual void ResetService() {}

  QueuePairLink& link_;
  const QueuePairContext& qp_;
  uint32_t expected_psn_ = 0;
  bool refused_ = false;  // receives nothing more until it is reset
  PartialMessage message_;
  ResponderSteps steps_;

 private:
  void WritePayload(const Transport& request,
                    std::optional<verbs::WorkCompletion> completion);

  bool established_ = false;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_TRANSPORT_RESPONDER_H_
