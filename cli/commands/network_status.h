// The part of `ibemu status` that is about the networks of runs.
#ifndef IBEMU_CLI_COMMANDS_NETWORK_STATUS_H_
#define IBEMU_CLI_COMMANDS_NETWORK_STATUS_H_

#include <string>

#include "nlohmann/json.hpp"

namespace ibemu::cli {

// Returns the tables for people of an answer to the method "status": which
// hosts have a network, and in which run; and of those on a virtual switch of
// Ethernet what they have counted and learnt.  Empty if there are none: a
// daemon of an older version tells of none.
std::string NetworksText(const nlohmann::json& status);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_COMMANDS_NETWORK_STATUS_H_
