#include "daemon/remote_node/authority.h"

#include <sys/socket.h>

#include <cerrno>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "launch/pass_descriptor.h"

namespace ibemu::daemon {

absl::StatusOr<std::shared_ptr<const Authority>> Authority::Find(
    const std::string& name, const std::string& certificates) {
  std::optional<launch::PeersProcess> peers;
  // The name of a fabric has no colon, and a path has a slash.
  if (name.find(':') != std::string::npos &&
      name.find('/') == std::string::npos) {
    std::vector<std::string> words = {"join", name};
    if (!certificates.empty()) {
      words.push_back(absl::StrCat("--certs=", certificates));
    }
    IBEMU_ASSIGN_OR_RETURN(peers,
                           launch::PeersProcess::Start(std::move(words)));
    IBEMU_RETURN_IF_ERROR(peers->AwaitReady().status());
  }
  return std::shared_ptr<const Authority>(
      new Authority(name, std::move(peers)));
}

absl::StatusOr<control::Client> Authority::Connect(
    absl::Duration patience) const {
  if (!peers_) return control::Client::Connect(name_, patience);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::ErrnoToStatus(errno, "socketpair");
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  const absl::Status sent =
      launch::SendDescriptor(peers_->line(), theirs.get());
  if (!sent.ok()) {
    return absl::UnavailableError(absl::StrCat(
        "ibemu-peers, by which it is reached, takes no connection (",
        sent.message(), "): if it has ended, start this daemon again"));
  }
  return control::Client::Adopt(ours.Release(), patience);
}

}  // namespace ibemu::daemon
