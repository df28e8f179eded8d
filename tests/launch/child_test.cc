#include "launch/child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "cli/run/run.h"
#include "gtest/gtest.h"

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

absl::Status Nothing() { return absl::OkStatus(); }

// The wait status of a launcher that runs `arguments` to the end.
int Launch(std::vector<std::string> arguments) {
  return InLauncher([&] {
    // The commands of these tests have nothing to say.
    close(STDERR_FILENO);
    const LauncherSignals signals;
    Command command;
    command.arguments = std::move(arguments);
    const absl::StatusOr<pid_t> pid = Start(command, signals, &Nothing);
    if (!pid.ok()) return 255;
    return EndLike(Supervise(*pid, signals, -1, [] {}));
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
    Command command;
    command.arguments = {"true"};
    const absl::StatusOr<pid_t> pid =
        Start(command, signals, [] { return absl::InternalError("no luck"); });
    return EndLike(Supervise(*pid, signals, -1, [] {}));
  });
  EXPECT_EQ(status, W_EXITCODE(kRunFailed, 0));
}

TEST(ChildTest, GivesTheCommandItsEnvironmentAndDirectory) {
  const int status = InLauncher([] {
    const LauncherSignals signals;
    Command command;
    command.arguments = {"/bin/sh", "-c",
                         "test $COLOUR = red && test $PWD = /"};
    command.environment = {{"COLOUR", "red"}};
    command.directory = "/";
    const absl::StatusOr<pid_t> pid = Start(command, signals, &Nothing);
    return EndLike(Supervise(*pid, signals, -1, [] {}));
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
    Command command;
    command.arguments = {"/bin/sh", "-c", "read line; exit 8"};
    const absl::StatusOr<pid_t> pid = Start(command, signals, &Nothing);
    int reports = 0;
    const int ending = Supervise(*pid, signals, daemon[0], [&] {
      ++reports;
      if (write(input[1], "\n", 1) != 1) _exit(255);
    });
    return ExitStatus(ending) == 8 ? reports : 255;
  });
  EXPECT_EQ(status, W_EXITCODE(1, 0));
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
