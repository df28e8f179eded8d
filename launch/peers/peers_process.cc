#include "launch/peers/peers_process.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/pidfd.h"
#include "base/status_macros.h"
#include "launch/own_program.h"

namespace ibemu::launch {
namespace {

constexpr char kProgram[] = "ibemu-peers";
constexpr int kEndsWithin = 1000;  // milliseconds

}  // namespace

std::string ReadPeersLine(int fd) {
  std::string text;
  char byte = 0;
  while (true) {
    const ssize_t count = read(fd, &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || byte == '\n') return text;
    text += byte;
  }
}

std::string PeersProgram() { return OwnProgram(kProgram, IBEMU_PROGRAMS); }

absl::StatusOr<PeersProcess> PeersProcess::Start(
    std::vector<std::string> arguments) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::ErrnoToStatus(errno, "socketpair");
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  arguments.insert(arguments.begin(), PeersProgram());
  arguments.push_back(absl::StrCat("--line=", theirs.get()));
  IBEMU_ASSIGN_OR_RETURN(UniqueFd process,
                         StartOwnProgram(std::move(arguments), theirs.get()));
  return PeersProcess(std::move(ours), std::move(process));
}

PeersProcess::~PeersProcess() {
  if (!process_.valid()) return;
  line_.Reset();
  pollfd ended = {process_.get(), POLLIN, 0};
  if (poll(&ended, 1, kEndsWithin) == 0) {
    pidfd_send_signal(process_.get(), SIGKILL, nullptr, 0);
  }
  siginfo_t info = {};
  waitid(P_PIDFD, static_cast<id_t>(process_.get()), &info, WEXITED);
}

absl::StatusOr<std::string> PeersProcess::AwaitReady() const {
  const std::string said = ReadPeersLine(line_.get());
  const std::string_view ready = kPeersReady;
  if (said.starts_with(ready)) return said.substr(ready.size());
  return absl::FailedPreconditionError(
      said.empty() ? absl::StrCat(kProgram, " ended, and said nothing") : said);
}

}  // namespace ibemu::launch
