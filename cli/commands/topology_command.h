// The command line of `ibemu topology` and `ibemu export`.
#ifndef IBEMU_CLI_COMMANDS_TOPOLOGY_COMMAND_H_
#define IBEMU_CLI_COMMANDS_TOPOLOGY_COMMAND_H_

#include "cli/command_line/command_line.h"

namespace ibemu::cli {

// Adds the commands to `app`; using one sets `action`.
void AddTopology(CLI::App& app, Action& action);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_COMMANDS_TOPOLOGY_COMMAND_H_
