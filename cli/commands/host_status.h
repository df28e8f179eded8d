// The part of `ibemu status` that is about one host.
#ifndef IBEMU_CLI_COMMANDS_HOST_STATUS_H_
#define IBEMU_CLI_COMMANDS_HOST_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "control/client.h"

namespace ibemu::cli {

// Prints the addresses, the listeners and the connections of `node`, as JSON if
// `as_json`.
//
// Errors: those of the method node.status.
absl::Status ShowHost(control::Client& client, const std::string& node,
                      bool as_json);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_COMMANDS_HOST_STATUS_H_
