#include "launch/child.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "launch/descendants.h"

namespace ibemu::launch {
namespace {

// Signals of faults in the launcher itself: they are never blocked and never
// passed on.
constexpr std::array kFaults = {SIGSEGV, SIGBUS, SIGFPE, SIGILL,
                                SIGTRAP, SIGSYS, SIGABRT};

struct sigaction Disposition(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  return action;
}

bool StoppedByTerminal(int wait_status) {
  return WIFSTOPPED(wait_status) &&
         (WSTOPSIG(wait_status) == SIGTSTP ||
          WSTOPSIG(wait_status) == SIGTTIN || WSTOPSIG(wait_status) == SIGTTOU);
}

// Lets `signal` have its default effect on this process, although it is
// blocked.
void Take(int signal) {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  raise(signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  sigprocmask(SIG_BLOCK, &only, nullptr);
}

// Reaps all children that have ended.  Returns true if `command` is one of
// them.
bool Reap(pid_t command, int& wait_status) {
  int status = 0;
  pid_t pid = 0;
  while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
    if (pid != command) continue;
    if (!WIFSTOPPED(status)) {
      wait_status = status;
      return true;
    }
    if (StoppedByTerminal(status)) {
      Take(WSTOPSIG(status));
      kill(command, SIGCONT);  // we were stopped, and have been continued
    }
  }
  return false;
}

// Ends whatever comes from this process.
class EndOfAll {
 public:
  // `others` are to live.
  explicit EndOfAll(std::set<pid_t> others) : others_(std::move(others)) {}

  // Readable when OnTime() is to be called.
  int timer() const { return timer_.get(); }

  void Begin(const EndOfDevices& how) {
    begun_ = true;
    grace_ = how.grace;
    if (how.leave <= absl::ZeroDuration()) return Ask();
    SetTimer(how.leave);
  }

  // Asks all of them to end.
  void Ask() {
    asked_ = true;
    Send(SIGTERM);
    Send(SIGCONT);  // who is stopped hears nothing else
    SetTimer(grace_);
  }

  void OnTime() {
    uint64_t times = 0;
    if (read(timer_.get(), &times, sizeof times) < 0) return;
    if (!asked_) return Ask();
    // A process that survives a second SIGKILL belongs to another user.
    if (kills_ == 2) given_up_ = true;
    ++kills_;
    Send(SIGKILL);
    SetTimer(kKilledWithin);
  }

  bool begun() const { return begun_; }
  bool asked() const { return asked_; }

  // Whether there is nobody left to wait for.
  bool IsReached() const { return !begun_ || given_up_ || All().empty(); }

 private:
  static constexpr absl::Duration kKilledWithin = absl::Seconds(1);

  std::set<pid_t> All() const {
    return DescendantsOf(getpid(), RunningProcesses(), others_);
  }

  void Send(int signal) const {
    ForEachProcess([this] { return All(); },
                   [signal](pid_t pid) { kill(pid, signal); });
  }

  void SetTimer(absl::Duration in) const {
    itimerspec time = {};
    time.it_value =
        absl::ToTimespec(std::max(in, absl::Nanoseconds(1)));  // 0 is never
    timerfd_settime(timer_.get(), 0, &time, nullptr);
  }

  const std::set<pid_t> others_;
  const UniqueFd timer_{
      timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)};
  absl::Duration grace_;
  bool begun_ = false;
  bool asked_ = false;
  bool given_up_ = false;
  int kills_ = 0;
};

[[noreturn]] void Become(const ChildCommand& command) {
  if (!command.directory.empty() && chdir(command.directory.c_str()) != 0) {
    std::fprintf(stderr, "ibemu run: %s: %s\n", command.directory.c_str(),
                 std::strerror(errno));
    _exit(kRunFailed);
  }
  for (const auto& [name, value] : command.environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<char*> arguments;
  for (const std::string& argument : command.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const bool missing = errno == ENOENT || errno == ENOTDIR;
  std::fprintf(stderr, "ibemu run: %s: %s\n", arguments[0],
               missing && std::strchr(arguments[0], '/') == nullptr
                   ? "no such command in $PATH"
                   : std::strerror(errno));
  _exit(missing ? kCommandNotFound : kCommandNotExecutable);
}

}  // namespace

LauncherSignals::LauncherSignals() {
  // Before the command is there, whose orphans are no children of ours yet.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  others_ = OwnChildren();
  sigset_t blocked;
  sigfillset(&blocked);
  for (int fault : kFaults) sigdelset(&blocked, fault);
  sigprocmask(SIG_BLOCK, &blocked, &mask_);
  fd_.Reset(signalfd(-1, &blocked, SFD_CLOEXEC | SFD_NONBLOCK));

  // The job control signals keep their default effect, which Take() needs.
  const std::pair<int, void (*)(int)> wanted[] = {
      {SIGINT, SIG_IGN},  {SIGQUIT, SIG_IGN}, {SIGCHLD, SIG_DFL},
      {SIGTSTP, SIG_DFL}, {SIGTTIN, SIG_DFL}, {SIGTTOU, SIG_DFL},
  };
  for (const auto& [signal, handler] : wanted) {
    const struct sigaction action = Disposition(handler);
    struct sigaction before = {};
    sigaction(signal, &action, &before);
    actions_.emplace_back(signal, before);
  }
}

void LauncherSignals::Restore() const {
  for (const auto& [signal, action] : actions_) {
    sigaction(signal, &action, nullptr);
  }
  sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

bool PassesOn(const signalfd_siginfo& signal) {
  switch (signal.ssi_signo) {
    case SIGCHLD:
    case SIGINT:
    case SIGQUIT:
      return false;
    default:
      return signal.ssi_code <=
             0;  // sent by a process: SI_USER, SI_QUEUE, SI_TKILL
  }
}

absl::StatusOr<pid_t> Start(const ChildCommand& command,
                            const LauncherSignals& signals,
                            absl::FunctionRef<absl::Status()> prepare) {
  const pid_t pid = fork();
  if (pid < 0) return absl::ErrnoToStatus(errno, "fork");
  if (pid > 0) return pid;
  if (const absl::Status status = prepare(); !status.ok()) {
    std::fprintf(stderr, "ibemu run: %s\n",
                 std::string(status.message()).c_str());
    _exit(kRunFailed);
  }
  signals.Restore();
  Become(command);
}

int Supervise(pid_t command, const LauncherSignals& signals, int daemon_fd,
              absl::FunctionRef<Grace()> daemon_ended) {
  EndOfAll end(signals.others());
  pollfd watched[] = {{signals.fd(), POLLIN, 0},
                      {daemon_fd, POLLIN, 0},
                      {end.timer(), POLLIN, 0}};
  int wait_status = 0;
  bool ended = false;
  while (true) {
    if (!ended && Reap(command, wait_status)) {
      ended = true;
      if (end.asked()) wait_status = W_EXITCODE(kRunFailed, 0);
      // Its leave is over; what it has left behind has none.
      if (end.begun() && !end.asked()) end.Ask();
    }
    if (ended && end.IsReached()) return wait_status;
    if (poll(watched, std::size(watched), -1) < 0) continue;
    signalfd_siginfo signal = {};
    while (read(signals.fd(), &signal, sizeof(signal)) == sizeof(signal)) {
      if (!ended && PassesOn(signal)) {
        kill(command, static_cast<int>(signal.ssi_signo));
      }
    }
    if (watched[1].revents != 0) {
      watched[1].fd = -1;
      // A command that has ended does not miss its devices.
      ended = ended || Reap(command, wait_status);
      if (ended) continue;
      if (const Grace grace = daemon_ended()) end.Begin(*grace);
    }
    if (watched[2].revents != 0) end.OnTime();
  }
}

int ExitStatus(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status)
                                  : WEXITSTATUS(wait_status);
}

int EndLike(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    // The command has dumped core itself if that was wanted; a core of the
    // launcher is of no use.
    const rlimit no_core = {};
    setrlimit(RLIMIT_CORE, &no_core);
    const int number = WTERMSIG(wait_status);
    const struct sigaction action = Disposition(SIG_DFL);
    sigaction(number, &action, nullptr);
    Take(number);  // returns for SIGCHLD and the like, and in process 1
  }
  return ExitStatus(wait_status);
}

}  // namespace ibemu::launch
