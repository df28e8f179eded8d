// The command line of `ibemu status`, `nodes` and `links`.
#ifndef IBEMU_DAEMON_STATUS_COMMAND_H_
#define IBEMU_DAEMON_STATUS_COMMAND_H_

#include "daemon/command_line.h"

namespace ibemu::daemon {

// Adds the commands to `app`; using one sets `action`.
void AddStatus(CLI::App& app, Action& action);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_STATUS_COMMAND_H_
