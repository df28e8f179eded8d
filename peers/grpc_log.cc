#include "peers/grpc_log.h"

#include <grpc/support/log.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "peers/refusal_log.h"

namespace ibemu::peers {

void LogRefusals() {
  gpr_set_log_function([](gpr_log_func_args* said) {
    const std::string_view text = said->message;
    // gRPC of Debian 12 (1.51) accepts no connection after such an error.
    if (text.starts_with("Failed accept4")) {
      std::fprintf(stderr, "ibemu-peers: %s\n", said->message);
      _exit(1);
    }
    if (text.starts_with("Handshake failed")) LogRefusal(said->message);
  });
}

void LogNothing() {
  gpr_set_log_function([](gpr_log_func_args*) {});
}

}  // namespace ibemu::peers
