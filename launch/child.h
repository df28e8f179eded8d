// LauncherSignals and Supervise(): the command of a run, as its launcher sees
// it: started, sent signals, waited for.
#ifndef IBEMU_LAUNCH_CHILD_H_
#define IBEMU_LAUNCH_CHILD_H_

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"

namespace ibemu::launch {

// The launcher's own failures, as with env(1) and timeout(1).
inline constexpr int kRunFailed = 125;
inline constexpr int kCommandNotExecutable = 126;
inline constexpr int kCommandNotFound = 127;

// LauncherSignals are the signals and the children of a launcher.  From
// construction on, signals reach it through fd() alone, and orphans of what it
// starts become its children.  SIGINT and SIGQUIT are ignored: the terminal
// sends them to the command as well.
//
// Children that are no part of the run are to be made before.
class LauncherSignals {
 public:
  LauncherSignals();
  LauncherSignals(const LauncherSignals&) = delete;
  LauncherSignals& operator=(const LauncherSignals&) = delete;

  // Readable when a signal waits; a signalfd.
  int fd() const { return fd_.get(); }

  // The children that the launcher had before: they are no part of the run.
  const std::set<pid_t>& others() const { return others_; }

  // Undoes everything: a command starts with the caller's signals.
  void Restore() const;

 private:
  sigset_t mask_ = {};
  std::vector<std::pair<int, struct sigaction>> actions_;
  UniqueFd fd_;
  std::set<pid_t> others_;
};

// Returns true if the launcher passes this signal on.  It does not pass on
// those of the kernel, because a terminal's go to the whole foreground group,
// which the command is in.
bool PassesOn(const signalfd_siginfo& signal);

// Variables of the environment, by name.
using Variables = std::vector<std::pair<std::string, std::string>>;

// A ChildCommand is a program to start, with its arguments and environment.
struct ChildCommand {
  std::vector<std::string> arguments;  // not empty; found along $PATH
  Variables environment;               // additions
  std::string directory;               // absolute; empty: the current one
};

// Starts the command.  `prepare` runs in its process just before: its error is
// printed, and the exit status is kRunFailed.
absl::StatusOr<pid_t> Start(const ChildCommand& command,
                            const LauncherSignals& signals,
                            absl::FunctionRef<absl::Status()> prepare);

// The times that a command and all that it has started have to end when their
// devices have gone.
struct EndOfDevices {
  absl::Duration leave;  // until they are asked to end, by SIGTERM
  absl::Duration grace;  // from then on, until they are killed
};
// Empty: they may go on.
using Grace = std::optional<EndOfDevices>;

// Waits until `command` ends and returns its wait status.  Meanwhile passes
// signals on, stops when the command is stopped by the terminal (so that the
// shell's job control works), and reaps orphans.
//
// When `daemon_fd` hangs up or becomes readable while the command runs, asks
// `daemon_ended` once.  With a grace, the command and everything that comes
// from it gets SIGTERM after its leave, and SIGKILL when the grace is over;
// Supervise() returns when all of them have ended, or will not (another
// user's).  It returns the status kRunFailed if the command had to be asked.
int Supervise(pid_t command, const LauncherSignals& signals, int daemon_fd,
              absl::FunctionRef<Grace()> daemon_ended);

// The shell's number for a wait status: 128 + n for signal n.
int ExitStatus(int wait_status);

// Ends as the command did: dies of the signal that killed it, if one did and
// this process can, so that a calling shell sees the same; else returns
// ExitStatus().
int EndLike(int wait_status);

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_CHILD_H_
