#include "daemon/remote_node/link_latency.h"

#include "absl/strings/str_cat.h"

namespace ibemu::daemon {

uint64_t LinkLatency::Send(absl::Time now) {
  sent_ = now;
  return ++number_;
}

absl::Status LinkLatency::OnReturned(uint64_t number, absl::Time now) {
  if (!sent_ || number != number_) {
    return absl::InvalidArgumentError(
        absl::StrCat("echo ", number, " comes back, and was not sent"));
  }
  round_trip_ = now - *sent_;
  sent_.reset();
  return absl::OkStatus();
}

absl::Duration LinkLatency::Behind(absl::Time now) const {
  return sent_ ? now - *sent_ : absl::ZeroDuration();
}

}  // namespace ibemu::daemon
