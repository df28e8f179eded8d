#include "launch/own_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/absl_text.h"
#include "base/pidfd.h"
#include "base/socket_pair.h"
#include "base/status_macros.h"

namespace ibemu::launch {
namespace {

// What happens between the child's begin and its program.
class SpawnPlan {
 public:
  explicit SpawnPlan(int line) {
    posix_spawn_file_actions_init(&actions_);
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO}) {
      if (!null_.valid()) continue;
      posix_spawn_file_actions_adddup2(&actions_, null_.get(), standard);
    }
    // Of the same number: close-on-exec goes.
    posix_spawn_file_actions_adddup2(&actions_, line, line);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  // Returns 0 or an errno.
  int Start(pid_t& pid, char* const* words) const {
    return posix_spawn(&pid, words[0], &actions_, &attributes_, words, environ);
  }

 private:
  const UniqueFd null_{open("/dev/null", O_RDWR | O_CLOEXEC)};
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

absl::StatusOr<OwnProcess> OwnProcess::Start(std::vector<std::string> arguments,
                                             std::string_view option,
                                             absl::Duration ends_within) {
  IBEMU_ASSIGN_OR_RETURN(SocketPair line, MakeSocketPair());
  arguments.push_back(absl::StrCat(Absl(option), "=", line.theirs.get()));
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (std::string& word : arguments) words.push_back(word.data());
  words.push_back(nullptr);
  pid_t pid = -1;
  if (const int error = SpawnPlan(line.theirs.get()).Start(pid, words.data());
      error != 0) {
    return absl::ErrnoToStatus(error, arguments.front());
  }
  UniqueFd process(pidfd_open(pid, 0));
  if (!process.valid()) return absl::ErrnoToStatus(errno, "pidfd_open");
  return OwnProcess(std::move(line.ours), std::move(process), ends_within);
}

void OwnProcess::Interrupt() const {
  pidfd_send_signal(process_.get(), SIGTERM, nullptr, 0);
}

OwnProcess::~OwnProcess() {
  if (!process_.valid()) return;
  line_.Reset();
  pollfd ended = {process_.get(), POLLIN, 0};
  if (poll(&ended, 1,
           static_cast<int>(absl::ToInt64Milliseconds(ends_within_))) == 0) {
    pidfd_send_signal(process_.get(), SIGKILL, nullptr, 0);
  }
  siginfo_t info = {};
  waitid(P_PIDFD, static_cast<id_t>(process_.get()), &info, WEXITED);
}

}  // namespace ibemu::launch
