// The output of the commands "Dump" and "Route" of ibsim's console.
#ifndef IBEMU_CLI_CONSOLE_NODE_DUMP_H_
#define IBEMU_CLI_CONSOLE_NODE_DUMP_H_

#include <string>

#include "nlohmann/json_fwd.hpp"

namespace ibemu::cli {

// Returns the text of a node, given as node.show describes it: its head, the
// forwarding table if it is a switch, and a line for each port.
std::string DumpNode(const nlohmann::json& node);

// Returns the text of a path, given as path.trace describes it: its first port,
// which has `from_lid`; a line for each cable; and its last port, if the path
// arrives.
std::string DumpPath(const nlohmann::json& path, int from_lid);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_CONSOLE_NODE_DUMP_H_
