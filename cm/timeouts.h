// The communication manager's times, as drivers/infiniband/core/cm.c has them.
#ifndef IBEMU_CM_TIMEOUTS_H_
#define IBEMU_CM_TIMEOUTS_H_

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"

namespace ibemu::cm {

// Fields of the REQ, SIDR_REQ and MRA of Linux's rdma_cm.  Times are 4.096 us
// * 2^n.
inline constexpr uint8_t kResponseTimeout = 20;
inline constexpr uint8_t kMraServiceTimeout = 24;
inline constexpr int kMaxRetries = 15;

// Returns 4.096 us * 2^n in Linux's arithmetic: about, and 1 ms at least.
constexpr absl::Duration TimeOf(int n) {
  return absl::Milliseconds(int64_t{1} << std::clamp(n - 8, 0, 31));
}

// Returns the LocalACKTimeout of a path: cm_ack_timeout().
constexpr uint8_t AckTimeout(int ca_ack_delay, int packet_life_time) {
  int timeout = packet_life_time + 1;
  if (timeout >= ca_ack_delay) {
    timeout += ca_ack_delay >= timeout - 1 ? 1 : 0;
  } else {
    timeout = ca_ack_delay + (timeout >= ca_ack_delay - 1 ? 1 : 0);
  }
  return static_cast<uint8_t>(std::min(31, timeout));
}

}  // namespace ibemu::cm

#endif  // IBEMU_CM_TIMEOUTS_H_
