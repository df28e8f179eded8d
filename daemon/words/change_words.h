// Parsers of the words by which people ask for changes.  They return the
// parameters of the control socket's methods.
#ifndef IBEMU_DAEMON_WORDS_CHANGE_WORDS_H_
#define IBEMU_DAEMON_WORDS_CHANGE_WORDS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::daemon {

// Returns the parameters of link.set.  `port` is "node-1/1", `direction` is
// "up" or "down"; `duration` is the time after which the change is undone, or
// empty.
//
// Errors, here and below: InvalidArgument.
absl::StatusOr<nlohmann::json> LinkChange(const std::string& port,
                                          const std::string& direction,
                                          const std::string& duration);

// Returns the parameters of node.set.  `direction` is "up" or "down".
absl::StatusOr<nlohmann::json> NodeChange(const std::string& node,
                                          const std::string& direction);

// Returns the parameters of device.set or host.set.  `direction` is "add" or
// "remove".
absl::StatusOr<nlohmann::json> PresenceChange(const std::string& node,
                                              const std::string& direction);

// Returns the parameters of counter.set.  `changes` are "NAME=VALUE" each; the
// first one may be "clear".
absl::StatusOr<nlohmann::json> CounterChange(const std::string& port,
                                             std::vector<std::string> changes);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WORDS_CHANGE_WORDS_H_
