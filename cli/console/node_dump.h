// What ibsim's "Dump" and "Route" print.
#ifndef IBEMU_CLI_CONSOLE_NODE_DUMP_H_
#define IBEMU_CLI_CONSOLE_NODE_DUMP_H_

#include <string>

#include "nlohmann/json_fwd.hpp"

namespace ibemu::cli {

// A node as node.show describes it: its head, a switch's forwarding table, a
// line for each port.
std::string DumpNode(const nlohmann::json& node);

// A path as path.trace describes it: where it begins, which has `from_lid`, a
// line for each cable, and where it arrives, if it does.
std::string DumpPath(const nlohmann::json& path, int from_lid);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_CONSOLE_NODE_DUMP_H_
