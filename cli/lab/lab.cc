#include "cli/lab/lab.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "cli/lab/lab_process.h"
#include "cli/lab/lab_state.h"
#include "cli/run/private_daemon.h"
#include "control/client.h"
#include "control/socket_path.h"
#include "daemon/daemon_options.h"
#include "launch/child.h"
#include "nlohmann/json.hpp"
#include "topology/fault_list.h"

namespace ibemu::cli {
namespace {

constexpr absl::Duration kGrace = absl::Seconds(5);
// As of timeout(1), in the form of waitpid().
constexpr int kTimedOut = 124 << 8;

sigset_t LabSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) {
    sigaddset(&signals, signal);
  }
  return signals;
}

// Each once, in the order of the file.
std::vector<std::string> HostsOf(const LabPlan& plan) {
  std::vector<std::string> hosts;
  std::set<std::string_view> known;
  for (const LabProgram& program : plan.programs) {
    if (program.kind == LabProgram::Kind::kScenario) continue;
    if (known.insert(program.label).second) hosts.push_back(program.label);
  }
  return hosts;
}

daemon::DaemonOptions OptionsOf(const LabPlan& plan, std::string socket) {
  daemon::DaemonOptions options;
  options.join = plan.join;
  if (!plan.join.empty()) options.joined_hosts = HostsOf(plan);
  options.listen = plan.listen;
  options.certificates = plan.certificates;
  if (!plan.topology.empty()) options.topology = plan.topology;
  if (plan.sm) options.sm = *plan.sm;
  options.seed = plan.seed;
  options.addresses = plan.addresses;
  options.socket = std::move(socket);
  return options;
}

// The line of "listen", if a message is about that; else of the host that it
// names first, in quotes, or of "join".
int LineOf(const LabPlan& plan, absl::string_view message) {
  if (absl::StartsWith(message, daemon::kListenFault)) return plan.listen_line;
  size_t first = message.npos;
  int line = plan.join_line;
  for (const LabProgram& program : plan.programs) {
    const size_t at = message.find(absl::StrCat("\"", program.label, "\""));
    if (at >= first) continue;
    first = at;
    line = program.line;
  }
  return line;
}

// What the daemon of a lab did not come up for, with its place in the file if
// that is about other machines.
absl::Status Placed(const LabPlan& plan, const absl::Status& error) {
  if (plan.join.empty() &&
      !absl::StartsWith(error.message(), daemon::kListenFault)) {
    return error;
  }
  topology::FaultList faults;
  const int file = faults.AddFile(plan.file);
  for (const absl::string_view text : absl::StrSplit(error.message(), '\n')) {
    faults.Add({.file = file, .line = LineOf(plan, text)}, std::string(text));
  }
  return faults.ToStatus();
}

absl::Status CheckHosts(const LabPlan& plan, control::Client& client) {
  topology::FaultList faults;
  const int file = faults.AddFile(plan.file);
  for (const LabProgram& program : plan.programs) {
    if (program.kind == LabProgram::Kind::kScenario) continue;
    const absl::Status status =
        client.Call("node.status", {{"node", program.label}}).status();
    if (status.ok()) continue;
    faults.Add({.file = file, .line = program.line},
               std::string(status.message()));
  }
  return faults.ToStatus();
}

class Lab {
 public:
  Lab(const LabPlan& plan, LabOutput& output, control::Client& client,
      int signals)
      : plan_(plan),
        output_(output),
        client_(client),
        signals_(signals),
        state_(plan) {}

  int Run(const std::function<void()>& up) {
    const absl::Time deadline = absl::Now() + plan_.timeout;
    bool was_up = false;
    while (true) {
      StartWhatMayStart();
      if (state_.ended()) break;
      if (!was_up && !state_.ending() && state_.up()) {
        was_up = true;
        up();
      }
      if (state_.ending()) AskToEnd();
      WaitUntil(killing_time_.value_or(state_.ending() ? absl::InfiniteFuture()
                                                       : deadline));
      if (!state_.ending() && absl::Now() >= deadline) {
        Stop(kTimedOut, absl::StrCat("the lab has taken ",
                                     absl::FormatDuration(plan_.timeout),
                                     ", its timeout"));
      }
      if (!output_.ok()) Stop(1 << 8, "");  // FinishOutput() tells why
      if (killing_time_ && absl::Now() >= *killing_time_) KillAll();
    }
    for (const auto& [i, process] : processes_) {
      process.Kill();
      waitpid(process.pid(), nullptr, 0);
    }
    output_.LabEnded(state_.status(), state_.reason());
    return wait_status_.value_or(state_.status() << 8);
  }

 private:
  void StartWhatMayStart() {
    for (const size_t i : state_.TakeStarts()) {
      absl::StatusOr<LabProcess> process =
          LabProcess::Start(plan_.programs[i], client_.greeting().socket);
      if (process.ok()) {
        output_.Started(plan_.programs[i]);
        processes_.emplace(i, *std::move(process));
      } else {
        output_.Line(plan_.programs[i], LabStream::kStderr,
                     std::string(process.status().message()));
        state_.OnEnd(i, launch::kRunFailed);
      }
    }
  }

  void Stop(int wait_status, std::string reason) {
    if (state_.ending()) return;
    wait_status_ = wait_status;
    state_.Stop(launch::ExitStatus(wait_status), std::move(reason));
  }

  void AskToEnd() {
    if (killing_time_) return;
    killing_time_ = absl::Now() + kGrace;
    for (const auto& [i, process] : processes_) {
      if (state_.running(i)) process.Terminate();
    }
  }

  void KillAll() {
    for (const auto& [i, process] : processes_) process.Kill();
    killing_time_ = absl::InfiniteFuture();
  }

  void WaitUntil(absl::Time deadline) {
    std::vector<pollfd> polled = {{signals_, POLLIN, 0}};
    // Before the end, the fabric's too is news.
    polled.push_back({state_.ending() ? -1 : client_.fd(), POLLIN, 0});
    for (const auto& [i, process] : processes_) {
      for (const LabStream stream : kLabStreams) {
        polled.push_back({process.fd(stream), POLLIN, 0});
      }
    }
    const timespec timeout = absl::ToTimespec(
        std::max(deadline - absl::Now(), absl::ZeroDuration()));
    if (ppoll(polled.data(), polled.size(),
              deadline == absl::InfiniteFuture() ? nullptr : &timeout,
              nullptr) < 0) {
      return;
    }
    for (auto& [i, process] : processes_) ReadLines(i, process);
    if (polled[0].revents != 0) TakeSignals();
    if (polled[1].revents != 0) {
      Stop(launch::kRunFailed << 8, "the fabric's daemon has ended");
    }
  }

  void ReadLines(size_t i, LabProcess& process) {
    process.Read([&](LabStream stream, std::string_view line) {
      OnLine(i, stream, line);
    });
  }

  void FlushLines(size_t i, LabProcess& process) {
    process.Flush([&](LabStream stream, std::string_view line) {
      OnLine(i, stream, line);
    });
  }

  void OnLine(size_t i, LabStream stream, std::string_view line) {
    output_.Line(plan_.programs[i], stream, line);
    state_.OnLine(i, line);
  }

  void TakeSignals() {
    signalfd_siginfo signal;
    while (read(signals_, &signal, sizeof signal) == sizeof signal) {
      const int number = static_cast<int>(signal.ssi_signo);
      if (number == SIGCHLD) continue;
      if (state_.ending()) {
        killing_time_ = absl::Now();
      } else {
        Stop(number, absl::StrFormat("ended by %s", strsignal(number)));
      }
    }
    LookWhoHasEnded();
  }

  // Who has ended stays a zombie until the lab ends: so nobody else gets the
  // number of its group, in which something may run on and print.
  void LookWhoHasEnded() {
    for (auto& [i, process] : processes_) {
      siginfo_t info = {};
      if (!state_.running(i) ||
          waitid(P_PID, static_cast<id_t>(process.pid()), &info,
                 WEXITED | WNOHANG | WNOWAIT) != 0 ||
          info.si_pid == 0) {
        continue;
      }
      ReadLines(i, process);
      FlushLines(i, process);
      const int status = info.si_code == CLD_EXITED
                             ? info.si_status
                             : launch::ExitStatus(info.si_status);
      output_.Ended(plan_.programs[i], status);
      state_.OnEnd(i, status);
    }
  }

  const LabPlan& plan_;
  LabOutput& output_;
  control::Client& client_;
  const int signals_;
  LabState state_;
  std::map<size_t, LabProcess> processes_;  // those that were started
  std::optional<int> wait_status_;          // of a lab that was stopped
  std::optional<absl::Time> killing_time_;  // once they were asked to end
};

// Runs the programs on the fabric of `client`.
absl::StatusOr<int> RunPrograms(const LabPlan& plan, LabOutput& output,
                                control::Client& client,
                                const std::function<void()>& up) {
  const sigset_t mask = LabSignals();
  sigprocmask(SIG_BLOCK, &mask, nullptr);
  const UniqueFd signals(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.valid()) return absl::ErrnoToStatus(errno, "signalfd");
  IBEMU_RETURN_IF_ERROR(CheckHosts(plan, client));
  return Lab(plan, output, client, signals.get()).Run(up);
}

}  // namespace

absl::StatusOr<int> RunLab(const LabPlan& plan, LabOutput& output,
                           const std::function<void()>& up) {
  IBEMU_ASSIGN_OR_RETURN(std::string socket, control::SocketPath(plan.name));
  IBEMU_RETURN_IF_ERROR(
      control::PrepareSocketDirectory(control::SocketDirectory()));
  // A signal that comes before the programs ends this process, and the fabric
  // with it.
  UniqueFd connection;
  IBEMU_ASSIGN_OR_RETURN(
      PrivateDaemon daemon,
      PrivateDaemon::Start(OptionsOf(plan, std::move(socket)), connection));
  absl::StatusOr<control::Client> client =
      control::Client::Adopt(connection.Release());
  if (!client.ok()) return Placed(plan, client.status());
  prctl(PR_SET_NAME, kLabProcessName);
  absl::StatusOr<int> status = RunPrograms(plan, output, *client, up);
  EndPrivateDaemon(std::move(daemon), *std::move(client));
  return status;
}

}  // namespace ibemu::cli
