// ibemu-mounts: does the mounting for the whole machine that a sandboxed unit
// can't do.
#include <fcntl.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/standard_output.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "cli/command_line/command_line.h"
#include "launch/mounts.h"
#include "launch/system_mounts.h"
#include "launch/systemd/service_manager.h"

namespace ibemu::cli {
namespace {

constexpr char kHelp[] =
    R"(Usage: ibemu-mounts make | cover [OPTION]... | remove
Make and remove the mounts of ibemud.service, in its ExecStartPre=,
ExecStartPost= and ExecStopPost=.

  make      mount a file system on /run/ibemu/sys and leave its descriptor,
            named "sysfs", with the service manager for the daemon
  cover     let its RDMA classes appear in /sys/class; OPTIONs are ibemud's, of
            which --sysfs=none leaves /sys/class as it is
  remove    take both away; nothing when they are another daemon's
)";

// Enters the mount namespace of process 1.  Even the privileged steps of a
// sandboxed unit have a mount namespace of their own (systemd 252), and a mount
// made there would end with the step.
absl::Status JoinTheMachine() {
  constexpr char kMachine[] = "/proc/1/ns/mnt";
  const UniqueFd machine(open(kMachine, O_RDONLY | O_CLOEXEC));
  if (!machine.valid() || setns(machine.get(), CLONE_NEWNS) != 0) {
    return absl::ErrnoToStatus(errno, kMachine);
  }
  return absl::OkStatus();
}

absl::Status Make() {
  IBEMU_ASSIGN_OR_RETURN(const UniqueFd claim, launch::ClaimSystemMounts());
  IBEMU_ASSIGN_OR_RETURN(const UniqueFd fuse, launch::OpenFuse());
  IBEMU_RETURN_IF_ERROR(launch::MountSystem(fuse.get()));
  absl::Status stored =
      launch::ServiceManager::Store(fuse.get(), launch::kFuseName);
  if (!stored.ok()) launch::UnmountSystem();
  return stored;
}

absl::Status Cover() {
  IBEMU_ASSIGN_OR_RETURN(const UniqueFd claim, launch::ClaimSystemMounts());
  return launch::CoverSysClass();
}

absl::Status Remove() {
  const absl::StatusOr<UniqueFd> claim = launch::ClaimSystemMounts();
  if (claim.ok()) launch::UnmountSystem();
  return absl::OkStatus();
}

absl::Status Act(std::string_view word,
                 const std::vector<std::string_view>& options) {
  IBEMU_RETURN_IF_ERROR(JoinTheMachine());
  if (word == "make") return Make();
  if (word == "remove") return Remove();
  const bool leave = std::find(options.begin(), options.end(),
                               "--sysfs=none") != options.end();
  return leave ? absl::OkStatus() : Cover();
}

int Main(const std::vector<std::string_view>& words) {
  if (words.size() == 1 && words[0] == "--help") {
    Print(kHelp);
    return FinishOutput("ibemu-mounts", 0);
  }
  const bool known =
      !words.empty() &&
      (words[0] == "cover" ||
       (words.size() == 1 && (words[0] == "make" || words[0] == "remove")));
  if (!known) {
    std::fputs(kHelp, stderr);
    return kUsageError;
  }
  const absl::Status done = Act(words[0], {words.begin() + 1, words.end()});
  return done.ok() ? 0 : Fail("ibemu-mounts", done);
}

}  // namespace
}  // namespace ibemu::cli

// Only bugs and a lack of memory cause exceptions.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  return ibemu::cli::Main({argv + 1, argv + argc});
}
