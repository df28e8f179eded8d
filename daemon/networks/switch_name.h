// The names of virtual switches of Ethernet.
#ifndef IBEMU_DAEMON_NETWORKS_SWITCH_NAME_H_
#define IBEMU_DAEMON_NETWORKS_SWITCH_NAME_H_

#include <string_view>

#include "absl/status/status.h"

namespace ibemu::daemon {

// Checks a name, which is also that of a network device, with room for a
// number, and ends the names of hosts there ("node-2.blue").
//
// Errors: InvalidArgument, which says the rule.
absl::Status CheckSwitchName(std::string_view name);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_NETWORKS_SWITCH_NAME_H_
