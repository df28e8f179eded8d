// The daemon that lives as long as one `ibemu run`.
#ifndef IBEMU_CLI_RUN_PRIVATE_DAEMON_H_
#define IBEMU_CLI_RUN_PRIVATE_DAEMON_H_

#include <utility>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "control/client.h"
#include "daemon/daemon_options.h"
#include "launch/own_process.h"

namespace ibemu::cli {

// A PrivateDaemon is an ibemud that serves this process, and ends when the
// connection that it was made with closes; the destructor waits for that, and
// kills a daemon that does not end.
class PrivateDaemon {
 public:
  // The start of a daemon, before the launcher changes its namespaces, so that
  // it stays in the user's own.  `connection` gets the launcher's end, for
  // Client::Adopt(), which tells what is wrong with `options`.  Of these the
  // ones count that `ibemu run` has, and `socket` and `listen`.
  //
  // Errors: those of OwnProcess, also if there is no ibemud.
  static absl::StatusOr<PrivateDaemon> Start(
      const daemon::DaemonOptions& options, UniqueFd& connection);

  // For a launch that failed: don't wait until a large topology is loaded.
  void Interrupt() const { process_.Interrupt(); }

 private:
  explicit PrivateDaemon(launch::OwnProcess process)
      : process_(std::move(process)) {}

  launch::OwnProcess process_;
};

// Ends the daemon of `client` by closing that connection, waits until it has
// ended, and removes the socket that it left if it was killed.
void EndPrivateDaemon(PrivateDaemon daemon, control::Client client);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_RUN_PRIVATE_DAEMON_H_
