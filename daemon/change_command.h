// The command line of `ibemu link`, `node`, `device` and `host`.
#ifndef IBEMU_DAEMON_CHANGE_COMMAND_H_
#define IBEMU_DAEMON_CHANGE_COMMAND_H_

#include "daemon/command_line.h"

namespace ibemu::daemon {

// Adds the commands to `app`; using one sets `action`.
void AddChanges(CLI::App& app, Action& action);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CHANGE_COMMAND_H_
