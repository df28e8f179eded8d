#include "peers/refusal_log.h"

#include <atomic>
#include <cstdint>
#include <cstdio>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace ibemu::peers {

void LogRefusal(const std::string& why) {
  static std::atomic<int64_t> last = 0;
  const int64_t now = absl::ToUnixSeconds(absl::Now());
  if (last.exchange(now) == now) return;
  std::fprintf(stderr, "ibemu-peers: a peer is refused: %s\n", why.c_str());
}

}  // namespace ibemu::peers
