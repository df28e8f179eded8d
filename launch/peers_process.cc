#include "launch/peers_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/pidfd.h"
#include "launch/standard_streams.h"

namespace ibemu::launch {
namespace {

constexpr char kProgram[] = "ibemu-peers";
constexpr int kEndsWithin = 1000;  // milliseconds

// Memory is not asked for here: there may be other threads.
[[noreturn]] void Execute(char* const* arguments, int line) {
  // The daemon's mask is for its own signals.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setsid();  // a terminal's signals are for the daemon
  fcntl(line, F_SETFD, 0);
  LeaveStandardStreams(STDOUT_FILENO);
  execv(arguments[0], arguments);
  std::array<char, 256> why;
  const int size = std::snprintf(why.data(), why.size(), "%s: %s", arguments[0],
                                 std::strerror(errno));
  (void)!write(line, why.data(), static_cast<size_t>(size));
  _exit(1);
}

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

std::string PeersProgram() {
  std::array<char, PATH_MAX> path;
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  if (size > 0) {
    const std::string_view self(path.data(), static_cast<size_t>(size));
    std::string beside = absl::StrCat(
        std::string(self.substr(0, self.rfind('/') + 1)), kProgram);
    if (access(beside.c_str(), X_OK) == 0) return beside;
  }
  return absl::StrCat(IBEMU_PROGRAMS, "/", kProgram);
}

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
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (std::string& word : arguments) words.push_back(word.data());
  words.push_back(nullptr);
  const pid_t pid = fork();
  if (pid < 0) return absl::ErrnoToStatus(errno, "fork");
  if (pid == 0) Execute(words.data(), theirs.get());
  UniqueFd process(pidfd_open(pid, 0));
  if (!process.valid()) return absl::ErrnoToStatus(errno, "pidfd_open");
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
