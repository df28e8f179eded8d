#include "cli/run/private_daemon.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "control/control_socket.h"
#include "daemon/adapters/hca_access.h"
#include "launch/own_process.h"
#include "launch/own_program.h"

namespace ibemu::cli {
namespace {

// Each adapter is given back: a command to firmware that hangs may take 70 s,
// and the adapter's reset then 13.
constexpr absl::Duration kEndsWithin = absl::Seconds(5);
constexpr absl::Duration kGivesBackWithin = absl::Seconds(90);

// The command line of a daemon with these options.
std::vector<std::string> Arguments(const daemon::DaemonOptions& options) {
  std::vector<std::string> words = {
      launch::OwnProgram("ibemud", IBEMU_DAEMON_DIRECTORY)};
  // A value is a word of its own, which may be empty: CLI11 takes "--sm=" and
  // the word behind it together.
  const auto give = [&words](const char* option, const auto& value) {
    words.emplace_back(option);
    words.push_back(absl::StrCat(value));
  };
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
  } else {
    give("--topology", options.topology);
    give("--sm", options.sm);
    if (options.listen) give("--listen", *options.listen);
  }
  if (!options.certificates.empty()) give("--certs", options.certificates);
  return words;
}

}  // namespace

absl::StatusOr<PrivateDaemon> PrivateDaemon::Start(
    const daemon::DaemonOptions& options, UniqueFd& connection) {
  IBEMU_ASSIGN_OR_RETURN(
      launch::OwnProcess process,
      launch::OwnProcess::Start(
          Arguments(options), "--private",
          kEndsWithin +
              kGivesBackWithin * static_cast<int>(options.adapters.size())));
  connection = process.TakeLine();
  return PrivateDaemon(std::move(process));
}

void EndPrivateDaemon(PrivateDaemon daemon, control::Client client) {
  const std::string socket = client.greeting().socket;
  { const control::Client closed = std::move(client); }
  { const PrivateDaemon ended = std::move(daemon); }
  control::RemoveRemains(socket);
}

}  // namespace ibemu::cli
