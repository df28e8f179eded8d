#include "cli/run/ssh_command.h"

#include <pwd.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "launch/child.h"

namespace ibemu::cli {
namespace {

constexpr char kSshHelp[] =
    R"(Usage: ibemu ssh [OPTION]... [USER@]NODE [COMMAND [ARG]...]
       ibemu-ssh [OPTION]... [USER@]NODE [COMMAND [ARG]...]
Run COMMAND on the host NODE of a running fabric: what ssh is to a cluster.  As
there, the words of COMMAND are joined by blanks and read by a shell; without
COMMAND there is a shell.

  --fabric=NAME     a running daemon (a name, or the path of its socket); default:
                    that of the "ibemu run" around it, else "default"
  -n                COMMAND reads nothing
  -l USER           as whom: who calls, as nobody else is there

The options of ssh that launchers give change nothing here: -46AaCKkqTtvXxYy, and
-c, -e, -F, -i, -m, -o and -p with a value.

It is "ibemu run --host=NODE" in the words of ssh: it starts in the working
directory, with the environment, and the exit status is COMMAND's, or 125 to 127.
Options of a run around it, such as --profile, do not carry over.
For programs that take the path of an ssh (mpirun, mpiexec, rsync) there is
ibemu-ssh.  Inside "ibemu run" Open MPI and MPICH use it by themselves.

Example, a job of MPI on four hosts:
  ibemu run --topology=single-switch:hosts=4 -- \
    mpirun --host node-1,node-2,node-3,node-4 ./program
)";

constexpr char kEndOfOptions[] = "--";

struct SshFlags {
  std::optional<std::string> fabric;
  std::optional<std::string> user;
  bool reads_nothing = false;
  // What ssh takes and has no meaning here.
  bool ignored = false;
  std::vector<std::string> ignored_values;
};

std::string UserName() {
  const passwd* const entry = getpwuid(geteuid());
  return entry == nullptr ? "" : entry->pw_name;
}

std::string Shell() {
  const char* const shell = std::getenv("SHELL");
  return shell == nullptr || *shell == '\0' ? "/bin/sh" : shell;
}

absl::StatusOr<RunOptions> OptionsOf(const SshFlags& flags,
                                     std::vector<std::string> words) {
  for (std::string& word : words) {
    if (word == kCommandFollows) word = kEndOfOptions;
  }
  if (!words.empty() && words.front() == kEndOfOptions) {
    words.erase(words.begin());
  }
  if (flags.user && !words.empty()) {
    words.front() = absl::StrCat(*flags.user, "@", words.front());
  }
  auto options = RunOfSsh(std::move(words), UserName(), Shell());
  if (options.ok()) options->fabric = flags.fabric.value_or("");
  return options;
}

}  // namespace

absl::StatusOr<RunOptions> RunOfSsh(std::vector<std::string> words,
                                    const std::string& user,
                                    const std::string& shell) {
  if (words.empty()) return absl::InvalidArgumentError("a NODE is missing");
  std::string node = words.front();
  words.erase(words.begin());
  if (const size_t at = node.rfind('@'); at != node.npos) {
    const std::string wanted = node.substr(0, at);
    if (wanted != user) {
      return absl::InvalidArgumentError(
          absl::StrCat("there is no user \"", wanted,
                       "\" on a host but who calls, \"", user, "\""));
    }
    node.erase(0, at + 1);
  }
  if (!words.empty() && words.front() == kEndOfOptions) {
    words.erase(words.begin());
  } else if (!words.empty() && words.front().starts_with('-')) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", words.front(), "\" stands behind NODE: options come before it"));
  }
  RunOptions options;
  options.hosts = {std::move(node)};
  if (words.empty()) {
    options.command = {shell};
  } else {
    // Launchers write for the shell of who calls them, of which there are two
    // families.
    options.command = {shell.ends_with("csh") ? shell : "/bin/sh", "-c",
                       absl::StrJoin(words, " ")};
  }
  return options;
}

void AddSsh(CLI::App& app, Action& action) {
  CLI::App* ssh = app.add_subcommand("ssh");
  SetHelp(*ssh, kSshHelp);
  ssh->prefix_command();
  const auto flags = std::make_shared<SshFlags>();
  ssh->add_option("--fabric", flags->fabric);
  ssh->add_option("-l", flags->user);
  ssh->add_flag("-n", flags->reads_nothing);
  ssh->add_flag("-4,-6,-A,-a,-C,-K,-k,-q,-T,-t,-v,-X,-x,-Y,-y", flags->ignored);
  ssh->add_option("-c,-e,-F,-i,-m,-o,-p", flags->ignored_values)
      ->allow_extra_args(false);
  ssh->callback([ssh, flags, &action] {
    action = [flags, words = ssh->remaining()] {
      const auto options = OptionsOf(*flags, words);
      if (!options.ok()) {
        Fail("ibemu ssh", options.status());
        return launch::kRunFailed;
      }
      if (flags->reads_nothing &&
          std::freopen("/dev/null", "r", stdin) == nullptr) {
        Fail("ibemu ssh", absl::ErrnoToStatus(errno, "/dev/null"));
        return launch::kRunFailed;
      }
      return RunCommand(*options);
    };
  });
}

}  // namespace ibemu::cli
