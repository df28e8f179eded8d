// The daemon: one fabric, served until it is told to end.
#ifndef IBEMU_DAEMON_IBEMUD_H_
#define IBEMU_DAEMON_IBEMUD_H_

#include <cstdint>
#include <optional>
#include <string>

namespace ibemu::daemon {

struct DaemonOptions {
  std::string topology = "back-to-back";
  std::string sm = "static";
  std::optional<uint64_t> seed;  // default: drawn, and printed

  // Where the control socket appears; removed at the end.  Empty: a private
  // daemon chooses one that nobody else has.
  std::string socket;

  // A private daemon (`ibemu run` without --fabric): an open control
  // connection.  The daemon ends when the other side closes it.  -1: none, and
  // the daemon runs until SIGTERM or SIGINT.
  int owner = -1;
};

// Serves, and returns the exit status; errors have been printed.
int RunDaemon(const DaemonOptions& options);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_IBEMUD_H_
