// The command line of `ibemu qp`.
#ifndef IBEMU_CLI_VERBS_QP_COMMAND_H_
#define IBEMU_CLI_VERBS_QP_COMMAND_H_

#include "cli/command_line/command_line.h"

namespace ibemu::cli {

// Adds the command to `app`; using it sets `action`.
void AddQp(CLI::App& app, Action& action);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_VERBS_QP_COMMAND_H_
