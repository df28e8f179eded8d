#include "peers/grpc_log.h"

#include <grpc/support/log.h>

#include <string_view>

#include "peers/refusal_log.h"

namespace ibemu::peers {

void LogRefusals() {
  gpr_set_log_function([](gpr_log_func_args* said) {
    const std::string_view text = said->message;
    if (text.starts_with("Handshake failed")) LogRefusal(said->message);
  });
}

void LogNothing() {
  gpr_set_log_function([](gpr_log_func_args*) {});
}

}  // namespace ibemu::peers
