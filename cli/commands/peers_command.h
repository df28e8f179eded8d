// The command lines of `ibemu certs` and `ibemu listen`.
#ifndef IBEMU_CLI_COMMANDS_PEERS_COMMAND_H_
#define IBEMU_CLI_COMMANDS_PEERS_COMMAND_H_

#include "cli/command_line/command_line.h"

namespace ibemu::cli {

// Adds the commands to `app`; using one sets `action`.  ibemu-peers carries
// them out, with all their arguments: its libraries take longer to load than
// most commands to run.
void AddPeers(CLI::App& app, Action& action);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_COMMANDS_PEERS_COMMAND_H_
