#include "cli/run/private_daemon.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "absl/status/status.h"
#include "base/pidfd.h"
#include "control/control_socket.h"
#include "daemon/run_daemon.h"
#include "launch/standard_streams.h"

namespace ibemu::cli {
namespace {

// Milliseconds.  Each adapter is given back: a command to firmware that hangs
// may take 70 s, and the adapter's reset then 13.
constexpr int kEndsWithin = 5000;
constexpr int kGivesBackWithin = 90000;

}  // namespace

absl::StatusOr<PrivateDaemon> PrivateDaemon::Fork(
    const daemon::DaemonOptions& options, UniqueFd& connection) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::ErrnoToStatus(errno, "socketpair");
  }
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) return absl::ErrnoToStatus(errno, "fork");
  if (pid == 0) {
    ours.Reset();
    // stderr stays for the daemon's last words.
    launch::LeaveStandardStreams(STDOUT_FILENO);
    prctl(PR_SET_NAME, "ibemud");
    _exit(daemon::RunPrivateDaemon(options, theirs.Release()));
  }
  UniqueFd process(pidfd_open(pid, 0));
  if (!process.valid()) return absl::ErrnoToStatus(errno, "pidfd_open");
  connection = std::move(ours);
  return PrivateDaemon(
      std::move(process),
      kEndsWithin +
          kGivesBackWithin * static_cast<int>(options.adapters.size()));
}

void PrivateDaemon::Interrupt() {
  pidfd_send_signal(process_.get(), SIGTERM, nullptr, 0);
}

PrivateDaemon::~PrivateDaemon() {
  if (!process_.valid()) return;
  pollfd ended = {process_.get(), POLLIN, 0};
  if (poll(&ended, 1, ends_within_) == 0) {
    pidfd_send_signal(process_.get(), SIGKILL, nullptr, 0);
  }
  siginfo_t info = {};
  waitid(P_PIDFD, static_cast<id_t>(process_.get()), &info, WEXITED);
}

void EndPrivateDaemon(PrivateDaemon daemon, control::Client client) {
  const std::string socket = client.greeting().socket;
  { const control::Client closed = std::move(client); }
  { const PrivateDaemon ended = std::move(daemon); }
  control::RemoveRemains(socket);
}

}  // namespace ibemu::cli
