#include "launch/supervisor/node_supervisor.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/socket_pair.h"
#include "base/status_macros.h"
#include "launch/descriptor_limit.h"
#include "launch/pass_descriptor.h"
#include "launch/supervisor/node_calls.h"

namespace ibemu::launch {
namespace {

// Holds nothing of the run: not its terminal, nor the way to its daemon, which
// ends when the launcher does.
[[noreturn]] void Supervise(UniqueFd socket, NodeFds fds) {
  prctl(PR_SET_NAME, "ibemu-nodes");
  setsid();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  constexpr int kSocket = STDERR_FILENO + 1;
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  const int kept = fcntl(socket.get(), F_DUPFD_CLOEXEC, kSocket + 1);
  dup3(kept, kSocket, O_CLOEXEC);
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    dup2(null.get(), fd);
  }
  close_range(kSocket + 1, ~0u, 0);
  // Each call under way has some; a run may have been given few.
  RaiseDescriptorLimit();
  if (UniqueFd listener = ReceiveDescriptor(kSocket); listener.valid()) {
    close(kSocket);
    NodeCalls::Serve(std::move(listener), fds);
  }
  _exit(0);  // with all threads that are held up
}

}  // namespace

absl::StatusOr<NodeSupervisor> NodeSupervisor::Fork(NodeFds fds) {
  IBEMU_ASSIGN_OR_RETURN(SocketPair line, MakeSocketPair(SOCK_SEQPACKET));
  const pid_t pid = fork();
  if (pid < 0) return absl::ErrnoToStatus(errno, "fork");
  if (pid == 0) {
    line.ours.Reset();
    Supervise(std::move(line.theirs), fds);
  }
  return NodeSupervisor(std::move(line.ours));
}

absl::Status NodeSupervisor::HandOver(UniqueFd listener) {
  if (!listener.valid()) return absl::OkStatus();
  const absl::Status sent = SendDescriptor(socket_.get(), listener.get());
  if (!sent.ok()) {
    return absl::Status(
        sent.code(),
        absl::StrCat("handing the seccomp filter over: ", sent.message()));
  }
  return absl::OkStatus();
}

}  // namespace ibemu::launch
