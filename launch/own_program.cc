#include "launch/own_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/pidfd.h"

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

std::string OwnProgram(std::string_view name, std::string_view directory) {
  std::array<char, PATH_MAX> path;
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  if (size > 0) {
    const std::string_view self(path.data(), static_cast<size_t>(size));
    std::string beside = absl::StrCat(
        std::string(self.substr(0, self.rfind('/') + 1)), std::string(name));
    if (access(beside.c_str(), X_OK) == 0) return beside;
  }
  return absl::StrCat(std::string(directory), "/", std::string(name));
}

absl::StatusOr<UniqueFd> StartOwnProgram(std::vector<std::string> arguments,
                                         int line) {
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (std::string& word : arguments) words.push_back(word.data());
  words.push_back(nullptr);
  pid_t pid = -1;
  if (const int error = SpawnPlan(line).Start(pid, words.data()); error != 0) {
    return absl::ErrnoToStatus(error, arguments.front());
  }
  UniqueFd process(pidfd_open(pid, 0));
  if (!process.valid()) return absl::ErrnoToStatus(errno, "pidfd_open");
  return process;
}

}  // namespace ibemu::launch
