// ibemud: one fabric, served to the programs that attach to it.
#ifndef IBEMU_DAEMON_SERVER_H_
#define IBEMU_DAEMON_SERVER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ibemu::daemon {

struct DaemonOptions {
  std::string topology = "back-to-back";  // SPEC: a file or a generator
  std::string sm = "static";              // none or static
  std::optional<uint64_t> seed;           // drawn when absent
  // Path of the control socket.  Empty: "default" in SocketDirectory() for
  // ibemud, a free name there for a private daemon.
  std::string socket;
  bool check = false;  // load and verify only

  // --front-end=cuse: the devices of `hosts`, for the whole machine.
  bool system_wide = false;
  std::vector<std::string> hosts;  // none: the first adapter
  bool cover_sys_class = true;     // else the sysfs entries are at kSystemMount
};

// Runs ibemud until SIGTERM or SIGINT.  Returns what main() returns; errors go
// to stderr.
int RunDaemon(const DaemonOptions& options);

// Runs the private daemon of one `ibemu run` on the calling process, which the
// launcher has forked before it made namespaces.  `client_fd` is the daemon's
// end of a socketpair (SOCK_STREAM): the launcher wraps the other end with
// Client::Adopt().  Also listens on a socket (Greeting::socket) so that nested
// runs find it.  Ends when the launcher closes its end; SIGINT and SIGQUIT are
// ignored, setsid() is called here.  Returns an exit status for _exit().
//
// A fault of the options (topology errors, say) is printed by nobody here: it
// reaches the launcher as the status of Client::Adopt().
int RunPrivateDaemon(const DaemonOptions& options, int client_fd);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SERVER_H_
