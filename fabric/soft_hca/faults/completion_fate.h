// CompletionFate: the effect of a fault on the completion of a work request.
#ifndef IBEMU_FABRIC_SOFT_HCA_FAULTS_COMPLETION_FATE_H_
#define IBEMU_FABRIC_SOFT_HCA_FAULTS_COMPLETION_FATE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace ibemu::fabric {

// The queues of a queue pair.
enum class WorkQueue : uint8_t { kSend, kReceive };

// A CompletionFate is what a fault does to a completion without an error.
struct CompletionFate {
  bool lost = false;  // never comes
  // Not 0: the request fails with this status, and so does its queue pair.  A
  // `vendor_err` of 0 is the one that goes with the status.
  uint32_t status = 0, vendor_err = 0;
  // It and those that follow come later.
  absl::Duration delay = absl::ZeroDuration();
  std::string fault{};  // the name of the fault; empty: there is none

  // What the fault does, to be followed by whose completion that is.
  std::string_view Deed() const {
    if (status != 0) return "fails";
    return lost ? "loses the completion of" : "holds up the completion of";
  }

  bool operator==(const CompletionFate&) const = default;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_FAULTS_COMPLETION_FATE_H_
