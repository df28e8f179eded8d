#include "daemon/remote_node/authority.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/socket_pair.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "launch/pass_descriptor.h"

namespace ibemu::daemon {
namespace {

// `not_here`: why there is no fabric of that name here; OK where it can't be
// one.  `error`: why there is no machine either.
absl::Status NoneOf(const std::string& name, const absl::Status& not_here,
                    const absl::Status& error) {
  if (not_here.ok()) return error;
  return absl::Status(
      error.code(),
      absl::StrCat(
          "\"", name, "\" is no fabric here (", not_here.message(),
          "), nor can a machine of that name be joined: ", error.message()));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Authority>> Authority::Find(
    const std::string& name, const std::string& certificates) {
  const bool is_path = name.find('/') != std::string::npos;
  // The name of a fabric has no colon.
  bool is_machine = !is_path && name.find(':') != std::string::npos;
  absl::Status not_here;
  if (!is_path && !is_machine) {
    const absl::Status here = control::Client::Connect(name).status();
    // A name of a machine may be longer than a socket's path.
    is_machine = absl::IsNotFound(here) || absl::IsInvalidArgument(here);
    if (is_machine) not_here = here;
  }
  std::optional<launch::PeersProcess> peers;
  if (is_machine) {
    std::vector<std::string> words = {"join", name};
    if (!certificates.empty()) {
      words.push_back(absl::StrCat("--certs=", certificates));
    }
    IBEMU_ASSIGN_OR_RETURN(peers,
                           launch::PeersProcess::Start(std::move(words)));
    const absl::Status ready = peers->AwaitReady().status();
    if (!ready.ok()) return NoneOf(name, not_here, ready);
  }
  return std::shared_ptr<const Authority>(
      new Authority(name, std::move(peers), std::move(not_here)));
}

absl::StatusOr<control::Client> Authority::Connect(
    absl::Duration patience) const {
  if (!peers_) return control::Client::Connect(name_, patience);
  IBEMU_ASSIGN_OR_RETURN(SocketPair line, MakeSocketPair());
  const absl::Status sent =
      launch::SendDescriptor(peers_->line(), line.theirs.get());
  if (!sent.ok()) {
    return absl::UnavailableError(absl::StrCat(
        "ibemu-peers, by which it is reached, takes no connection (",
        sent.message(), "): if it has ended, start this daemon again"));
  }
  return control::Client::Adopt(line.ours.Release(), patience);
}

absl::Status Authority::Explain(const absl::Status& error) const {
  return absl::IsUnavailable(error) ? NoneOf(name_, not_here_, error) : error;
}

}  // namespace ibemu::daemon
