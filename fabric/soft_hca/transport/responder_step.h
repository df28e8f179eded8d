// ResponderStep: an operation of the responder.
#ifndef IBEMU_FABRIC_SOFT_HCA_TRANSPORT_RESPONDER_STEP_H_
#define IBEMU_FABRIC_SOFT_HCA_TRANSPORT_RESPONDER_STEP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "fabric/packet/transport.h"
#include "verbs/provider.h"

namespace ibemu::fabric {

// An operation of the responder, and what is sent and completed at its end.  It
// finishes when its memory access is done and the steps before it have
// finished.
struct ResponderStep {
  bool done = false;
  absl::Status status{};  // of the memory access
  bool acknowledge = false;
  uint32_t psn = 0;  // of the last packet that belongs to it
  std::optional<verbs::WorkCompletion> completion = std::nullopt;
  bool solicited = false;
  bool receives = false;  // a part of a message that has a receive request
  std::optional<Transport::Syndrome> refusal = std::nullopt;
  // The event that tells of a refusal that ends the connection; none if a
  // completion tells of it (IBA vol 1 §11.6.3.2).
  std::optional<verbs::AsyncEventType> event = std::nullopt;
  // The request of an RDMA READ or an atomic operation, and the number of bytes
  // of the READ's response that have been sent.
  std::shared_ptr<const Transport> fetch = nullptr;
  size_t answered = 0;
  bool reaching = false;  // a memory access is in progress
  bool repeats = false;   // the request was answered before
  bool breaks = false;    // ends in the error state, after the completion
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_TRANSPORT_RESPONDER_STEP_H_
