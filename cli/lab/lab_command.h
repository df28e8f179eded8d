// `ibemu up` and `ibemu down`: a lab from one file.
#ifndef IBEMU_CLI_LAB_LAB_COMMAND_H_
#define IBEMU_CLI_LAB_LAB_COMMAND_H_

#include "cli/command_line/command_line.h"

namespace ibemu::cli {

void AddLab(CLI::App& app, Action& action);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_LAB_LAB_COMMAND_H_
