// Ports as people write them: NODE/PORT.
#ifndef IBEMU_DAEMON_PORT_TEXT_H_
#define IBEMU_DAEMON_PORT_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace ibemu::daemon {

struct PortText {
  std::string node;
  int port = 0;
};

// The last slash counts: a node's description may have one too.
//
// Errors: InvalidArgument.
absl::StatusOr<PortText> ParsePort(std::string_view text);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_PORT_TEXT_H_
