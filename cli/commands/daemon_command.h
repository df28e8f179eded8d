// The command lines of `ibemu ls` and `ibemu stop`.
#ifndef IBEMU_CLI_COMMANDS_DAEMON_COMMAND_H_
#define IBEMU_CLI_COMMANDS_DAEMON_COMMAND_H_

#include "cli/command_line/command_line.h"

namespace ibemu::cli {

// Adds the commands to `app`; using one sets `action`.
void AddDaemons(CLI::App& app, Action& action);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_COMMANDS_DAEMON_COMMAND_H_
