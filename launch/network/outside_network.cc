#include "launch/network/outside_network.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/absl_text.h"
#include "base/pidfd.h"
#include "base/socket_pair.h"
#include "base/status_macros.h"
#include "launch/standard_streams.h"

namespace ibemu::launch {
namespace {

// A connection takes some 50 ms.
constexpr absl::Duration kPatience = absl::Seconds(10);
constexpr int kPause = 10;    // milliseconds between looks at the routes
constexpr int kGrace = 2000;  // milliseconds, from SIGTERM to SIGKILL
constexpr size_t kMaxSaid = 4096;

std::string ReadFile(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

[[noreturn]] void Execute(const std::vector<std::string>& command, int said,
                          const sigset_t& signals) {
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  dup2(said, STDOUT_FILENO);
  dup2(said, STDERR_FILENO);
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  std::fprintf(stderr, "%s\n", std::strerror(errno));
  std::fflush(stderr);
  _exit(1);
}

void EndProgram(const UniqueFd& program) {
  pidfd_send_signal(program.get(), SIGTERM, nullptr, 0);
  pollfd ended = {program.get(), POLLIN, 0};
  if (poll(&ended, 1, kGrace) == 0) {
    pidfd_send_signal(program.get(), SIGKILL, nullptr, 0);
  }
}

// Returns false at the end.  Of what was said, the end is kept.
bool Listen(int fd, std::string& said) {
  std::array<char, 1024> buffer;
  const ssize_t size = read(fd, buffer.data(), buffer.size());
  if (size <= 0) return false;
  said.append(buffer.data(), static_cast<size_t>(size));
  if (said.size() > kMaxSaid) said.erase(0, said.size() - kMaxSaid);
  return true;
}

// slirp4netns says last which of its processes has failed, and why before.
std::string LastLines(std::string_view said) {
  constexpr size_t kLines = 3;
  std::vector<std::string> lines =
      absl::StrSplit(Absl(said), '\n', absl::SkipWhitespace());
  if (lines.size() > kLines) lines.erase(lines.begin(), lines.end() - kLines);
  return absl::StrJoin(lines, "; ");
}

// Runs the program until it ends, and says then what it has said last, or until
// the launcher is gone.
void Watch(const std::vector<std::string>& command, const UniqueFd& line,
           const sigset_t& signals) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  const UniqueFd heard(ends[0]);
  UniqueFd saying(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) return;
  if (pid == 0) Execute(command, saying.get(), signals);
  saying.Reset();
  const UniqueFd program(pidfd_open(pid, 0));
  std::string said;
  std::array<pollfd, 3> wanted = {pollfd{line.get(), POLLIN, 0},
                                  {program.get(), POLLIN, 0},
                                  {heard.get(), POLLIN, 0}};
  while (poll(wanted.data(), wanted.size(), -1) >= 0 || errno == EINTR) {
    if (wanted[0].revents != 0) return EndProgram(program);
    if (wanted[2].revents != 0) {
      if (!Listen(heard.get(), said)) wanted[2].fd = -1;
    } else if (wanted[1].revents != 0) {  // and nothing more to be heard
      const std::string last = LastLines(said);
      (void)!write(line.get(), last.data(), last.size());
      return;
    }
  }
}

}  // namespace

absl::StatusOr<OutsideNetwork> OutsideNetwork::Fork(
    const OutsideProgram& program) {
  const char* const path = std::getenv("PATH");
  if (!IsInstalled(program, path == nullptr ? "" : path)) {
    return absl::NotFoundError(absl::StrCat(
        "--outside=", Absl(program.name), ": it is not installed: Debian's \"",
        Absl(program.package), "\" has it"));
  }
  IBEMU_ASSIGN_OR_RETURN(SocketPair line, MakeSocketPair());
  const std::vector<std::string> command = OutsideCommand(program, getpid());
  const pid_t pid = fork();
  if (pid < 0) return absl::ErrnoToStatus(errno, "fork");
  if (pid == 0) {
    line.ours.Reset();
    setsid();  // a terminal's signals are for the command
    // Nor does another one end it before the program.
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    prctl(PR_SET_NAME, "ibemu-outside");
    LeaveStandardStreams(STDERR_FILENO);
    char go = 0;
    if (read(line.theirs.get(), &go, 1) == 1) {
      Watch(command, line.theirs, before);
    }
    _exit(0);
  }
  UniqueFd process(pidfd_open(pid, 0));
  if (!process.valid()) return absl::ErrnoToStatus(errno, "pidfd_open");
  return OutsideNetwork(program, std::move(process), std::move(line.ours));
}

absl::Status OutsideNetwork::Connect(Privilege privilege) {
  const auto fails = [this](std::string_view why) {
    return absl::FailedPreconditionError(
        absl::StrCat("--outside=", Absl(program_->name), ": ", Absl(why)));
  };
  if (privilege == Privilege::kMounts && !program_->joins_roots) {
    return fails(
        "it gives up root's rights, so it can't join a network that root has "
        "made: --outside=slirp4netns can");
  }
  const char go = 1;
  send(line_.get(), &go, 1, MSG_NOSIGNAL);
  const absl::Time deadline = absl::Now() + kPatience;
  while (true) {
    const bool late = absl::Now() > deadline;
    const std::string ipv4 = ReadFile("/proc/self/net/route");
    if (HasDefaultRoute(ipv4, ReadFile("/proc/self/net/ipv6_route"))) {
      has_ipv4_ = HasDefaultRoute(ipv4, "");
      return absl::OkStatus();
    }
    pollfd ended = {line_.get(), POLLIN, 0};
    if (poll(&ended, 1, kPause) > 0) {
      std::string said;
      while (Listen(line_.get(), said)) {
      }
      return fails(said.empty() ? "it ended, and said nothing" : said);
    }
    if (late) {
      return absl::DeadlineExceededError(
          absl::StrCat("--outside=", Absl(program_->name),
                       ": there is no default route after 10 s"));
    }
  }
}

OutsideNetwork::~OutsideNetwork() {
  if (!process_.valid()) return;
  // Copies of it, in processes that were forked since, do not count.
  shutdown(line_.get(), SHUT_RDWR);
  siginfo_t info = {};
  waitid(P_PIDFD, static_cast<id_t>(process_.get()), &info, WEXITED);
}

}  // namespace ibemu::launch
