// The command line of `ibemu status`, `nodes` and `links`.
#ifndef IBEMU_CLI_COMMANDS_STATUS_COMMAND_H_
#define IBEMU_CLI_COMMANDS_STATUS_COMMAND_H_

#include "cli/command_line/command_line.h"

namespace ibemu::cli {

// Adds the commands to `app`; using one sets `action`.
void AddStatus(CLI::App& app, Action& action);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_COMMANDS_STATUS_COMMAND_H_
