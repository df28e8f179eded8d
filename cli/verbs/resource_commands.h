// The command lines of `ibemu cq`, `ibemu mr`, `ibemu srq` and `ibemu mcast`.
#ifndef IBEMU_CLI_VERBS_RESOURCE_COMMANDS_H_
#define IBEMU_CLI_VERBS_RESOURCE_COMMANDS_H_

#include "cli/command_line/command_line.h"

namespace ibemu::cli {

// Adds the commands to `app`; using one sets `action`.
void AddResources(CLI::App& app, Action& action);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_VERBS_RESOURCE_COMMANDS_H_
