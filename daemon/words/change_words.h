// Changes as people write them, as parameters of the control socket's methods.
#ifndef IBEMU_DAEMON_WORDS_CHANGE_WORDS_H_
#define IBEMU_DAEMON_WORDS_CHANGE_WORDS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::daemon {

// For link.set: "node-1/1", "up" or "down", and a time after which it is
// undone, or nothing.
//
// Errors of all: InvalidArgument.
absl::StatusOr<nlohmann::json> LinkChange(const std::string& port,
                                          const std::string& direction,
                                          const std::string& duration);

// For node.set: a node, "up" or "down".
absl::StatusOr<nlohmann::json> NodeChange(const std::string& node,
                                          const std::string& direction);

// For device.set and host.set: a node, "add" or "remove".
absl::StatusOr<nlohmann::json> PresenceChange(const std::string& node,
                                              const std::string& direction);

// For counter.set: a port, "NAME=VALUE" ..., before them "clear".
absl::StatusOr<nlohmann::json> CounterChange(const std::string& port,
                                             std::vector<std::string> changes);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WORDS_CHANGE_WORDS_H_
