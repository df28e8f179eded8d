#include "launch/child.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "base/pidfd.h"
#include "base/unique_fd.h"
#include "cli/run/run.h"
#include "gtest/gtest.h"
#include "launch/descendants.h"

namespace ibemu::launch {
namespace {

// Runs `body` in a process of its own, since a launcher's signals and child
// reaping concern the whole process.  Returns its wait status.
int InLauncher(const std::function<int()>& body) {
  const pid_t pid = fork();
  if (pid == 0) _exit(body());
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

Grace GoOn() { return std::nullopt; }

absl::Status Nothing() { return absl::OkStatus(); }

// The wait status of a launcher that runs `arguments` to the end.
int Launch(std::vector<std::string> arguments) {
  return InLauncher([&] {
    // The commands of these tests have nothing to say.
    close(STDERR_FILENO);
    const LauncherSignals signals;
    ChildCommand command;
    command.arguments = std::move(arguments);
    const absl::StatusOr<pid_t> pid = Start(command, signals, &Nothing);
    if (!pid.ok()) return 255;
    return EndLike(Supervise(*pid, signals, -1, &GoOn));
  });
}

int LaunchShell(const std::string& script) {
  return Launch({"/bin/sh", "-c", script});
}

TEST(ChildTest, EndsWithTheStatusOfTheCommand) {
  EXPECT_EQ(LaunchShell("exit 0"), W_EXITCODE(0, 0));
  EXPECT_EQ(LaunchShell("exit 7"), W_EXITCODE(7, 0));
}

TEST(ChildTest, DiesOfTheSignalThatKilledTheCommand) {
  for (const int signal : {SIGTERM, SIGKILL, SIGINT, SIGSEGV, SIGPIPE}) {
    const int status = LaunchShell("kill -" + std::to_string(signal) + " $$");
    EXPECT_TRUE(WIFSIGNALED(status)) << signal;
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_FALSE(WCOREDUMP(status)) << signal;
  }
}

TEST(ChildTest, TellsAMissingCommandFromOneThatCannotRun) {
  EXPECT_EQ(Launch({"ibemu-has-no-such-command"}),
            W_EXITCODE(kCommandNotFound, 0));
  EXPECT_EQ(Launch({"/no/such/file"}), W_EXITCODE(kCommandNotFound, 0));
  EXPECT_EQ(Launch({"/etc/passwd"}), W_EXITCODE(kCommandNotExecutable, 0));
  EXPECT_EQ(Launch({"/tmp"}), W_EXITCODE(kCommandNotExecutable, 0));
}

TEST(ChildTest, AFailedPreparationIsTheLaunchersFailure) {
  const int status = InLauncher([] {
    close(STDERR_FILENO);
    const LauncherSignals signals;
    ChildCommand command;
    command.arguments = {"true"};
    const absl::StatusOr<pid_t> pid =
        Start(command, signals, [] { return absl::InternalError("no luck"); });
    return EndLike(Supervise(*pid, signals, -1, &GoOn));
  });
  EXPECT_EQ(status, W_EXITCODE(kRunFailed, 0));
}

TEST(ChildTest, GivesTheCommandItsEnvironmentAndDirectory) {
  const int status = InLauncher([] {
    const LauncherSignals signals;
    ChildCommand command;
    command.arguments = {"/bin/sh", "-c",
                         "test $COLOUR = red && test $PWD = /"};
    command.environment = {{"COLOUR", "red"}};
    command.directory = "/";
    const absl::StatusOr<pid_t> pid = Start(command, signals, &Nothing);
    return EndLike(Supervise(*pid, signals, -1, &GoOn));
  });
  EXPECT_EQ(status, W_EXITCODE(0, 0));
}

TEST(ChildTest, TheCommandStartsWithTheCallersSignals) {
  // Ignored by the launcher, but not by the command.
  EXPECT_EQ(WTERMSIG(LaunchShell("kill -INT $$; exit 0")), SIGINT);
  EXPECT_EQ(LaunchShell("test $(awk '/SigBlk/ { print $2 }' "
                        "/proc/self/status) = 0000000000000000"),
            W_EXITCODE(0, 0));
}

TEST(ChildTest, KeepsIgnoredWhatTheCallerIgnored) {
  const int status = InLauncher([] {
    signal(SIGINT, SIG_IGN);
    return WEXITSTATUS(LaunchShell("kill -INT $$; exit 5"));
  });
  EXPECT_EQ(status, W_EXITCODE(5, 0));
}

TEST(ChildTest, PassesOnASignalThatAProcessSent) {
  // The parent is the launcher: whatever it is sent comes back.
  EXPECT_EQ(LaunchShell("trap 'exit 3' USR1; kill -USR1 $PPID; "
                        "while :; do read line; done"),
            W_EXITCODE(3, 0));
}

TEST(ChildTest, SurvivesSigintAndSigquit) {
  EXPECT_EQ(LaunchShell("kill -INT $PPID; kill -QUIT $PPID; exit 4"),
            W_EXITCODE(4, 0));
}

TEST(ChildTest, ReapsOrphansAndGoesOn) {
  EXPECT_EQ(LaunchShell("(sh -c 'exit 1' & exit 0); exit 6"), W_EXITCODE(6, 0));
}

TEST(ChildTest, ReportsTheEndOfTheDaemonOnceAndWaitsForTheCommand) {
  const int status = InLauncher([] {
    int daemon[2];
    int input[2];
    if (pipe(daemon) != 0 || pipe(input) != 0) return 255;
    close(daemon[1]);  // the daemon has ended
    dup2(input[0], STDIN_FILENO);
    const LauncherSignals signals;
    ChildCommand command;
    command.arguments = {"/bin/sh", "-c", "read line; exit 8"};
    const absl::StatusOr<pid_t> pid = Start(command, signals, &Nothing);
    int reports = 0;
    const int ending = Supervise(*pid, signals, daemon[0], [&] {
      ++reports;
      if (write(input[1], "\n", 1) != 1) _exit(255);
      return GoOn();
    });
    return ExitStatus(ending) == 8 ? reports : 255;
  });
  EXPECT_EQ(status, W_EXITCODE(1, 0));
}

TEST(ChildTest, ACommandThatHasEndedDoesNotMissItsDevices) {
  int daemon[2];
  int input[2];
  int told[2];
  ASSERT_TRUE(pipe(daemon) == 0 && pipe(input) == 0 && pipe(told) == 0);
  const pid_t launcher = fork();
  if (launcher == 0) {
    close(daemon[1]);
    dup2(input[0], STDIN_FILENO);
    const LauncherSignals signals;
    ChildCommand command;
    command.arguments = {"/bin/sh", "-c", "read line; exit 0"};
    const absl::StatusOr<pid_t> pid = Start(command, signals, &Nothing);
    if (write(told[1], &*pid, sizeof *pid) != sizeof *pid) _exit(255);
    bool asked = false;
    const int ending = Supervise(*pid, signals, daemon[0], [&asked] {
      asked = true;
      return GoOn();
    });
    _exit(asked ? 254 : ExitStatus(ending));
  }
  pid_t command = 0;
  ASSERT_EQ(read(told[0], &command, sizeof command),
            static_cast<ssize_t>(sizeof command));
  const UniqueFd ended(pidfd_open(command, 0));
  ASSERT_TRUE(ended.valid());
  // Stopped, the launcher hears of both at once.
  kill(launcher, SIGSTOP);
  int status = 0;
  ASSERT_EQ(waitpid(launcher, &status, WUNTRACED), launcher);
  ASSERT_EQ(write(input[1], "\n", 1), 1);
  pollfd end = {ended.get(), POLLIN, 0};
  ASSERT_EQ(poll(&end, 1, -1), 1);
  close(daemon[1]);
  kill(launcher, SIGCONT);
  ASSERT_EQ(waitpid(launcher, &status, 0), launcher);
  EXPECT_EQ(status, W_EXITCODE(0, 0));
  for (const int fd : {daemon[0], input[0], input[1], told[0], told[1]}) {
    close(fd);
  }
}

// The wait status of a command that loses its devices as soon as it has printed
// a line; `left` gets what it printed since.
int LoseDevices(const std::string& script, absl::Duration grace,
                std::string& left,
                absl::Duration leave = absl::ZeroDuration()) {
  int output[2];
  EXPECT_EQ(pipe(output), 0);
  const int status = InLauncher([&] {
    close(output[0]);
    // Another child of the launcher, which is to stay.
    const pid_t other = fork();
    if (other == 0) {
      close(output[1]);
      while (true) pause();
    }
    const LauncherSignals signals;
    int told[2];
    if (pipe(told) != 0) return 255;
    ChildCommand command;
    command.arguments = {
        "/bin/sh", "-c",
        "exec 3>&1 >&" + std::to_string(told[1]) + "; " + script};
    dup2(output[1], STDOUT_FILENO);
    close(output[1]);
    const absl::StatusOr<pid_t> pid = Start(command, signals, &Nothing);
    close(told[1]);
    const int ending = Supervise(*pid, signals, told[0], [&] {
      return Grace(EndOfDevices{.leave = leave, .grace = grace});
    });
    const bool stayed = waitpid(other, nullptr, WNOHANG) == 0;
    kill(other, SIGKILL);
    return stayed ? ExitStatus(ending) : 255;
  });
  close(output[1]);
  char byte = 0;
  while (read(output[0], &byte, 1) == 1) left += byte;  // until all have ended
  close(output[0]);
  return status;
}

TEST(ChildTest, ACommandWithoutDevicesIsAskedToEnd) {
  std::string left;
  EXPECT_EQ(LoseDevices("trap 'echo asked >&3; exit 9' TERM; echo ready; "
                        "while :; do sleep 0.01; done",
                        absl::Hours(1), left),
            W_EXITCODE(kRunFailed, 0));
  EXPECT_EQ(left, "asked\n");
}

TEST(ChildTest, ACommandThatDoesNotCareIsKilledWithAllThatItStarted) {
  std::string left;
  EXPECT_EQ(LoseDevices("trap '' TERM; (trap '' TERM; sleep 1000) & "
                        "setsid sleep 1000 & echo ready; sleep 1000; wait",
                        absl::Milliseconds(10), left),
            W_EXITCODE(kRunFailed, 0));
  EXPECT_EQ(left, "");
}

TEST(ChildTest, OrphansOfACommandWithoutDevicesEndWithIt) {
  std::string left;
  EXPECT_EQ(LoseDevices("trap 'exit 4' TERM; (setsid sleep 1000 &) ; "
                        "echo ready; while :; do sleep 0.01; done",
                        absl::Hours(1), left),
            W_EXITCODE(kRunFailed, 0));
}

TEST(ChildTest, ACommandThatEndsInItsLeaveKeepsItsStatus) {
  std::string left;
  EXPECT_EQ(LoseDevices("(setsid sleep 1000 &) ; echo ready; sleep 0.01; "
                        "exit 4",
                        absl::Hours(1), left, /*leave=*/absl::Hours(1)),
            W_EXITCODE(4, 0));
}

TEST(ChildTest, ACommandIsAskedToEndAfterItsLeave) {
  std::string left;
  EXPECT_EQ(LoseDevices("trap 'echo asked >&3; exit 9' TERM; echo ready; "
                        "while :; do sleep 0.01; done",
                        absl::Hours(1), left,
                        /*leave=*/absl::Milliseconds(10)),
            W_EXITCODE(kRunFailed, 0));
  EXPECT_EQ(left, "asked\n");
}

TEST(ChildTest, OrphansOfBeforeSuperviseEndWithTheCommand) {
  int output[2];
  ASSERT_EQ(pipe(output), 0);
  const int status = InLauncher([&] {
    close(output[0]);
    int told[2];
    if (pipe(told) != 0) return 255;
    const LauncherSignals signals;
    ChildCommand command;
    command.arguments = {
        "/bin/sh", "-c",
        "(setsid sleep 1000 >&- &); exec >&-; exec sleep 1000"};
    dup2(told[1], STDOUT_FILENO);
    close(told[1]);
    const absl::StatusOr<pid_t> pid = Start(command, signals, &Nothing);
    close(STDOUT_FILENO);
    // The orphan is there, and its parent has ended.
    while (OwnChildren().size() < 2) std::this_thread::yield();
    return ExitStatus(Supervise(*pid, signals, told[0], [] {
      return Grace(
          EndOfDevices{.leave = absl::ZeroDuration(), .grace = absl::Hours(1)});
    }));
  });
  close(output[1]);
  char byte = 0;
  EXPECT_EQ(read(output[0], &byte, 1), 0);  // when all have ended
  close(output[0]);
  EXPECT_EQ(status, W_EXITCODE(kRunFailed, 0));
}

TEST(PassesOnTest, NotWhatTheTerminalSendsToTheWholeGroup) {
  signalfd_siginfo signal = {};
  signal.ssi_signo = SIGHUP;
  signal.ssi_code = SI_KERNEL;
  EXPECT_FALSE(PassesOn(signal));
  signal.ssi_code = SI_USER;
  EXPECT_TRUE(PassesOn(signal));
}

TEST(PassesOnTest, NotTheNewsOfItsOwnChildren) {
  signalfd_siginfo signal = {};
  signal.ssi_signo = SIGCHLD;
  signal.ssi_code = SI_USER;
  EXPECT_FALSE(PassesOn(signal));
}

TEST(ExitStatusTest, IsTheShells) {
  EXPECT_EQ(ExitStatus(W_EXITCODE(42, 0)), 42);
  EXPECT_EQ(ExitStatus(W_EXITCODE(0, SIGTERM)), 143);
}

}  // namespace
}  // namespace ibemu::launch
