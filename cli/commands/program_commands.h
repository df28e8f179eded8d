// The commands that programs of their own carry out: `ibemu certs`, `ibemu
// listen` and `ibemu device-plugin`.
#ifndef IBEMU_CLI_COMMANDS_PROGRAM_COMMANDS_H_
#define IBEMU_CLI_COMMANDS_PROGRAM_COMMANDS_H_

#include "cli/command_line/command_line.h"

namespace ibemu::cli {

// Adds the commands to `app`; using one sets `action`, which becomes its
// program, with all arguments: the libraries of these programs take longer to
// load than most commands to run.
void AddProgramCommands(CLI::App& app, Action& action);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_COMMANDS_PROGRAM_COMMANDS_H_
