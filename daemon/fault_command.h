// The command line of `ibemu fault`.
#ifndef IBEMU_DAEMON_FAULT_COMMAND_H_
#define IBEMU_DAEMON_FAULT_COMMAND_H_

#include "daemon/command_line.h"

namespace ibemu::daemon {

// Adds the command to `app`; using it sets `action`.
void AddFault(CLI::App& app, Action& action);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_FAULT_COMMAND_H_
