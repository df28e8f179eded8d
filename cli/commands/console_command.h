// The command line of `ibemu console`.
#ifndef IBEMU_CLI_COMMANDS_CONSOLE_COMMAND_H_
#define IBEMU_CLI_COMMANDS_CONSOLE_COMMAND_H_

#include "cli/command_line/command_line.h"

namespace ibemu::cli {

// Adds the command to `app`; using it sets `action`.
void AddConsole(CLI::App& app, Action& action);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_COMMANDS_CONSOLE_COMMAND_H_
