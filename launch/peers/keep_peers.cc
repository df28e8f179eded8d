#include "launch/peers/keep_peers.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/socket_pair.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "launch/peers/peers_process.h"

namespace ibemu::launch {
namespace {

struct PeersChild {
  pid_t pid;
  UniqueFd news;
};

absl::StatusOr<PeersChild> StartChild(PeersBody body,
                                      const std::string& before) {
  IBEMU_ASSIGN_OR_RETURN(SocketPair news, MakeSocketPair());
  const pid_t keeper = getpid();
  const pid_t pid = fork();
  if (pid < 0) return absl::ErrnoToStatus(errno, "fork");
  if (pid > 0) return PeersChild{pid, std::move(news.ours)};
  news.ours.Reset();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The signal is for later deaths alone.
  if (getppid() != keeper) _exit(1);
  _exit(body(news.theirs.get(), before));
}

int AwaitEnd(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

bool HangsUpWithin(int line, absl::Duration time) {
  pollfd hung_up = {line, 0, 0};
  return poll(&hung_up, 1, static_cast<int>(absl::ToInt64Milliseconds(time))) >
         0;
}

// `complaint`: what the child has said if it was not ready.
std::string WhyItEnded(int status, const std::string& complaint) {
  if (WIFSIGNALED(status)) {
    return absl::StrCat("killed by SIG", sigabbrev_np(WTERMSIG(status)));
  }
  return complaint.empty()
             ? absl::StrCat("ended with status ", WEXITSTATUS(status))
             : complaint;
}

}  // namespace

int KeepPeers(int line, absl::Duration pause, PeersBody body) {
  signal(SIGPIPE, SIG_IGN);  // of who reads standard error
  std::string before, told;
  bool has_served = false;
  while (true) {
    const absl::StatusOr<PeersChild> child = StartChild(body, before);
    std::string news = child.ok() ? ReadPeersLine(child->news.get())
                                  : std::string(child.status().message());
    const bool ready = news.starts_with(kPeersReady);
    if (!has_served) {
      const std::string text = news + "\n";
      send(line, text.data(), text.size(), MSG_NOSIGNAL);
    }
    if (ready) {
      before = news.substr(std::strlen(kPeersReady));
      has_served = true;
      news.clear();
      told.clear();
    }
    const int status = child.ok() ? AwaitEnd(child->pid) : W_EXITCODE(1, 0);
    if (!has_served) return 1;
    if (status == 0) return 0;
    // Not the same each second.
    if (std::string why = WhyItEnded(status, news); why != told) {
      told = std::move(why);
      std::fprintf(stderr,
                   "ibemu-peers: %s: it is started again, and other machines "
                   "join again\n",
                   told.c_str());
    }
    if (HangsUpWithin(line, pause)) return 0;
  }
}

}  // namespace ibemu::launch
