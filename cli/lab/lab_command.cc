#include "cli/lab/lab_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/pidfd.h"
#include "base/standard_output.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "cli/lab/lab.h"
#include "cli/lab/lab_output.h"
#include "cli/lab/lab_parser.h"
#include "control/client.h"
#include "control/socket_path.h"
#include "launch/child.h"
#include "launch/standard_streams.h"
#include "topology/read_file.h"

namespace ibemu::cli {
namespace {

constexpr char kUpHelp[] = R"(Usage: ibemu up FILE [OPTION]...
Start a fabric and the programs that FILE names on its hosts, print what they
print with the host in front, and end all when the commands have ended, or when
one has failed.

  --check         read the file only
  --detach        return when all has started and is ready; the lab goes on
                  until its commands have ended, or until "ibemu down"
  --json          print JSON, an object a line

FILE is YAML ("-": standard input):
  topology: single-switch:hosts=4
  hosts:
    node-1: {run: ib_write_bw -F, ready: Waiting for client}
    node-2: {run: ib_write_bw -F node-1, after: node-1}
Instead of a topology, "join: head" takes the hosts of a fabric on another
machine, where a lab has "listen: 7471".  ibemu-lab(5) tells more.

The exit status is 0, or that of the first program that failed; 124 after the
file's timeout; 1 if nothing was started.  Other commands find the fabric by
--fabric=NAME: the file's name without its suffix, unless it says another.
)";

constexpr char kDownHelp[] = R"(Usage: ibemu down FILE|NAME
End what "ibemu up" has started: its programs, then its fabric.  Waits until
they have ended.

Example:
  ibemu up --detach lab.yaml
  ibemu run --fabric=lab --host=node-3 -- ./test
  ibemu down lab
)";

struct Flags {
  std::string file;
  bool check = false, detach = false, json = false;
};

absl::StatusOr<LabPlan> ReadPlan(const std::string& file) {
  IBEMU_ASSIGN_OR_RETURN(const std::string text, topology::ReadFile(file));
  topology::FaultList faults;
  LabPlan plan = ParseLab(text, file == "-" ? "lab" : file, faults);
  IBEMU_RETURN_IF_ERROR(faults.ToStatus());
  return plan;
}

// Files that a lab names are beside it.
std::string Beside(const std::string& file, const std::string& name) {
  const std::filesystem::path path =
      std::filesystem::path(file).parent_path() / name;
  std::error_code none;
  return std::filesystem::exists(path, none) ? path.string() : name;
}

void FindFiles(LabPlan& plan) {
  if (!plan.topology.empty()) plan.topology = Beside(plan.file, plan.topology);
  if (plan.addresses) plan.addresses = Beside(plan.file, *plan.addresses);
  if (!plan.certificates.empty()) {
    plan.certificates = Beside(plan.file, plan.certificates);
  }
  for (LabProgram& program : plan.programs) {
    if (program.kind != LabProgram::Kind::kScenario) continue;
    program.arguments.back() = Beside(plan.file, program.arguments.back());
  }
}

// Returns what main() returns.
int RunHere(const LabPlan& plan, LabOutput& output,
            const std::function<void()>& up) {
  const absl::StatusOr<int> status = RunLab(plan, output, up);
  if (!status.ok()) return Fail("ibemu up", status.status());
  return launch::EndLike(*status);
}

// The log of a lab that goes on in the background.
absl::StatusOr<std::string> LogPath(const LabPlan& plan) {
  const std::string directory = control::SocketDirectory();
  IBEMU_RETURN_IF_ERROR(control::PrepareSocketDirectory(directory));
  return absl::StrCat(directory, "/", plan.name, ".log");
}

// In the child: all that is said from here on is in the log.
void GoToBackground(int log) {
  setsid();
  const UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  dup2(null.get(), STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
}

void PrintLog(const std::string& path) {
  std::ifstream file(path);
  Print(std::string(std::istreambuf_iterator<char>(file), {}));
}

absl::StatusOr<int> RunInBackground(const LabPlan& plan, LabOutput& output) {
  IBEMU_ASSIGN_OR_RETURN(const std::string path, LogPath(plan));
  // Its log would be lost.
  if (control::Client::Connect(plan.name).ok()) {
    return absl::AlreadyExistsError(
        absl::StrCat(plan.name, ": a fabric of this name is running already"));
  }
  const UniqueFd log(open(
      path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_APPEND, 0600));
  if (!log.valid()) return absl::ErrnoToStatus(errno, path);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "pipe2");
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) return absl::ErrnoToStatus(errno, "fork");
  if (pid == 0) {
    GoToBackground(log.get());
    _exit(RunHere(plan, output, [&] {
      const char up = 0;
      // Nobody need be there any more.
      [[maybe_unused]] const ssize_t written = write(writer.get(), &up, 1);
    }));
  }
  writer.Reset();
  char up = 0;
  ssize_t size = 0;
  while ((size = read(reader.get(), &up, 1)) < 0 && errno == EINTR) {
  }
  PrintLog(path);
  if (size == 1) {
    std::fprintf(stderr,
                 "ibemu up: %s is up; from here on, %s has what it prints\n",
                 plan.name.c_str(), path.c_str());
    return 0;
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return launch::ExitStatus(status);
}

int Up(const Flags& flags) {
  launch::FillStandardStreams();
  absl::StatusOr<LabPlan> plan = ReadPlan(flags.file);
  if (!plan.ok()) return Fail("ibemu up", plan.status());
  if (flags.check) {
    Print(absl::StrFormat("%s: no faults: %d programs\n", plan->file,
                          plan->programs.size()));
    return 0;
  }
  FindFiles(*plan);
  LabOutput output(*plan, flags.json);
  if (!flags.detach) return RunHere(*plan, output, [] {});
  const absl::StatusOr<int> status = RunInBackground(*plan, output);
  return status.ok() ? *status : Fail("ibemu up", status.status());
}

// Returns the process of the lab whose daemon is `daemon`, which started it.
std::optional<pid_t> LabOf(pid_t daemon) {
  std::ifstream status(absl::StrCat("/proc/", daemon, "/status"));
  pid_t parent = 0;
  for (std::string word; status >> word;) {
    if (word == "PPid:") status >> parent;
  }
  std::string name;
  std::ifstream(absl::StrCat("/proc/", parent, "/comm")) >> name;
  if (name != kLabProcessName) return std::nullopt;
  return parent;
}

absl::Status Down(const std::string& lab) {
  std::string name = lab;
  std::error_code none;
  if (std::filesystem::is_regular_file(lab, none)) {
    IBEMU_ASSIGN_OR_RETURN(const LabPlan plan, ReadPlan(lab));
    name = plan.name;
  }
  IBEMU_ASSIGN_OR_RETURN(const control::Client client,
                         control::Client::Connect(name));
  const std::optional<pid_t> pid = LabOf(client.greeting().pid);
  const UniqueFd process(pid ? pidfd_open(*pid, 0) : -1);
  // The daemon has answered, and its parent is alive: the number is its own.
  if (!process.valid() || LabOf(client.greeting().pid) != pid) {
    return absl::FailedPreconditionError(absl::StrCat(
        name, ": no \"ibemu up\" has started this fabric: use \"ibemu stop ",
        name, "\""));
  }
  if (pidfd_send_signal(process.get(), SIGTERM, nullptr, 0) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("process ", *pid));
  }
  pollfd ended{process.get(), POLLIN, 0};
  while (poll(&ended, 1, -1) < 0 && errno == EINTR) {
  }
  return absl::OkStatus();
}

}  // namespace

void AddLab(CLI::App& app, Action& action) {
  CLI::App* up = app.add_subcommand("up");
  SetHelp(*up, kUpHelp);
  const auto flags = std::make_shared<Flags>();
  up->add_flag("--check", flags->check);
  up->add_flag("--detach", flags->detach);
  up->add_flag("--json", flags->json);
  up->add_option("file", flags->file)->required();
  up->callback([flags, &action] { action = [flags] { return Up(*flags); }; });

  CLI::App* down = app.add_subcommand("down");
  SetHelp(*down, kDownHelp);
  const auto lab = std::make_shared<std::string>();
  down->add_option("lab", *lab)->required();
  OnUse(*down, action, "down", [lab] { return Down(*lab); });
}

}  // namespace ibemu::cli
