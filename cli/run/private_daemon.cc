#include "cli/run/private_daemon.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/pidfd.h"
#include "base/status_macros.h"
#include "control/control_socket.h"
#include "daemon/adapters/hca_access.h"
#include "launch/own_program.h"

namespace ibemu::cli {
namespace {

// Milliseconds.  Each adapter is given back: a command to firmware that hangs
// may take 70 s, and the adapter's reset then 13.
constexpr int kEndsWithin = 5000;
constexpr int kGivesBackWithin = 90000;

// The command line of a daemon with these options.
std::vector<std::string> Arguments(const daemon::DaemonOptions& options,
                                   int client) {
  std::vector<std::string> words = {
      launch::OwnProgram("ibemud", IBEMU_DAEMON_DIRECTORY)};
  // A value is a word of its own, which may be empty: CLI11 takes "--sm=" and
  // the word behind it together.
  const auto give = [&words](const char* option, const auto& value) {
    words.emplace_back(option);
    words.push_back(absl::StrCat(value));
  };
  give("--private", client);
  if (options.seed) give("--seed", *options.seed);
  if (options.addresses) give("--addresses", *options.addresses);
  if (!options.socket.empty()) give("--socket", options.socket);
  if (!options.adapters.empty()) {
    words.emplace_back("--backend=hca");
    for (std::string& word : daemon::HcaWords(options.adapters)) {
      words.push_back(std::move(word));
    }
  } else if (!options.join.empty()) {
    give("--join", options.join);
    for (const std::string& host : options.joined_hosts) give("--host", host);
    if (!options.certificates.empty()) give("--certs", options.certificates);
  } else {
    give("--topology", options.topology);
    give("--sm", options.sm);
  }
  return words;
}

}  // namespace

absl::StatusOr<PrivateDaemon> PrivateDaemon::Start(
    const daemon::DaemonOptions& options, UniqueFd& connection) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::ErrnoToStatus(errno, "socketpair");
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  IBEMU_ASSIGN_OR_RETURN(
      UniqueFd process,
      launch::StartOwnProgram(Arguments(options, theirs.get()), theirs.get()));
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
