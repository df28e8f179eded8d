// The two lives of the daemon: as ibemud, and for one `ibemu run`.
#ifndef IBEMU_DAEMON_RUN_DAEMON_H_
#define IBEMU_DAEMON_RUN_DAEMON_H_

#include "absl/status/status.h"
#include "daemon/server.h"

namespace ibemu::daemon {

// Runs ibemud until SIGTERM or SIGINT.  Returns what main() returns; errors go
// to stderr.
int RunDaemon(const DaemonOptions& options);

// Runs the private daemon of one `ibemu run`, which has started this process
// before it made namespaces.  `client_fd` is the daemon's end of a socketpair
// (SOCK_STREAM): the launcher wraps the other end with Client::Adopt().  Also
// listens on a socket (Greeting::socket) so that nested runs find it.  Ends
// when the launcher closes its end; SIGINT, SIGQUIT and SIGHUP are ignored.
// Returns what main() returns.
//
// A fault of the options (topology errors, say) is printed by nobody here: it
// reaches the launcher as the status of Client::Adopt().
int RunPrivateDaemon(const DaemonOptions& options, int client_fd);

// The answer of a private daemon that does not start: the launcher's
// Client::Adopt() gets `status`.
void RefusePrivateDaemon(const absl::Status& status, int client_fd);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_RUN_DAEMON_H_
