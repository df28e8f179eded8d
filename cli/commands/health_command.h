// The command line of `ibemu health`.
#ifndef IBEMU_CLI_COMMANDS_HEALTH_COMMAND_H_
#define IBEMU_CLI_COMMANDS_HEALTH_COMMAND_H_

#include "cli/command_line/command_line.h"

namespace ibemu::cli {

// Adds the command to `app`; using it sets `action`.
void AddHealth(CLI::App& app, Action& action);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_COMMANDS_HEALTH_COMMAND_H_
