// The command line of `ibemu run`.
#ifndef IBEMU_CLI_RUN_RUN_COMMAND_H_
#define IBEMU_CLI_RUN_RUN_COMMAND_H_

#include "cli/command_line/command_line.h"

namespace ibemu::cli {

// Adds the command to `app`; using it sets `action`.
void AddRun(CLI::App& app, Action& action);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_RUN_RUN_COMMAND_H_
