#include "peers/grpc_log.h"

#include <grpc/support/log.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace ibemu::peers {

void LogRefusals() {
  gpr_set_log_function([](gpr_log_func_args* said) {
    static std::atomic<int64_t> last = 0;
    const std::string_view text = said->message;
    // gRPC of Debian 12 (1.51) accepts no connection after such an error.
    if (text.starts_with("Failed accept4")) {
      std::fprintf(stderr, "ibemu-peers: %s\n", said->message);
      _exit(1);
    }
    const int64_t now = absl::ToUnixSeconds(absl::Now());
    if (text.starts_with("Handshake failed") && last.exchange(now) != now) {
      std::fprintf(stderr, "ibemu-peers: a peer is refused: %s\n",
                   said->message);
    }
  });
}

void LogNothing() {
  gpr_set_log_function([](gpr_log_func_args*) {});
}

}  // namespace ibemu::peers
