#include "cli/commands/daemon_command.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "base/pidfd.h"
#include "base/standard_output.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "cli/command_line/table.h"
#include "control/client.h"
#include "control/rpc.h"
#include "control/socket_path.h"
#include "nlohmann/json.hpp"

namespace ibemu::cli {
namespace {

using nlohmann::json;

// With a daemon that may be stopped.
constexpr absl::Duration kPatience = absl::Seconds(3);

constexpr char kLsHelp[] = R"(Usage: ibemu ls [OPTION]...
List the fabrics that run, by the names that --fabric takes.  Those of "ibemu
run" are called run-PROCESS; one whose ibemud has a --socket elsewhere is not
found.

  --json          for programs
)";

constexpr char kStopHelp[] = R"(Usage: ibemu stop [FABRIC]
End the daemon that serves a fabric, and wait until it has ended.  Programs on
its hosts then get errors.

  --fabric=NAME   the same as FABRIC: a name, or the path of a socket (default:
                  IBEMU_FABRIC, else "default")

Example:
  ibemu stop lab
)";

struct DaemonFlags {
  std::string fabric;
  bool json = false;
};

// Returns the names of the sockets in the user's directory.
std::vector<std::string> SocketNames() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(control::SocketDirectory(), error)) {
    if (entry.path().extension() == ".sock") {
      names.push_back(entry.path().stem());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Returns the topology that a daemon serves, or its adapters.
std::string Content(const json& status) {
  if (!status.contains("adapters")) return status.value("topology", "");
  return absl::StrJoin(status["adapters"], ", ",
                       [](std::string* text, const json& adapter) {
                         text->append(adapter.value("adapter", ""));
                       });
}

absl::StatusOr<json> Describe(const std::string& name) {
  IBEMU_ASSIGN_OR_RETURN(control::Client client,
                         control::Client::Connect(name, kPatience));
  IBEMU_ASSIGN_OR_RETURN(const json status,
                         client.Call("status", json::object()));
  return json{{"fabric", name},
              {"socket", status.value("socket", "")},
              {"pid", status.value("pid", 0)},
              {"content", Content(status)},
              {"views", status.value("views", json::array()).size()}};
}

absl::Status List(const DaemonFlags& flags) {
  json fabrics = json::array();
  Table table({"FABRIC", "PROCESS", "VIEWS", "CONTENT"});
  for (const std::string& name : SocketNames()) {
    const absl::StatusOr<json> fabric = Describe(name);
    if (fabric.ok()) {
      table.Add({name, absl::StrCat((*fabric)["pid"].get<int>()),
                 absl::StrCat((*fabric)["views"].get<size_t>()),
                 (*fabric)["content"].get<std::string>()});
      fabrics.push_back(*fabric);
    } else if (absl::IsPermissionDenied(fabric.status())) {
      table.Add({name, "-", "-", "another user's"});
    } else if (absl::IsDeadlineExceeded(fabric.status())) {
      table.Add({name, "-", "-", "does not answer"});
    }
    // A daemon that was killed has left its socket: it is no fabric.
  }
  Print(flags.json ? control::DumpForPeople(fabrics) : table.Text());
  return absl::OkStatus();
}

// Returns the process at the other end of `client`.  The kernel knows which
// process made a socket: the daemon, or the service manager for it.
absl::StatusOr<pid_t> DaemonOf(const control::Client& client) {
  const control::Greeting& greeting = client.greeting();
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(client.fd(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
      peer.pid == greeting.pid) {
    return greeting.pid;
  }
  std::string name;
  std::ifstream(absl::StrCat("/proc/", greeting.pid, "/comm")) >> name;
  if (name == "ibemud") return greeting.pid;
  return absl::FailedPreconditionError(
      absl::StrCat(greeting.socket,
                   ": its daemon is in another container, "
                   "where it is process ",
                   greeting.pid, ": end it there"));
}

absl::Status Stop(const DaemonFlags& flags) {
  IBEMU_ASSIGN_OR_RETURN(const control::Client client,
                         control::Client::Connect(flags.fabric));
  IBEMU_ASSIGN_OR_RETURN(const pid_t pid, DaemonOf(client));
  // From here on the number is that process's, for it was connected just now.
  const UniqueFd process(pidfd_open(pid, 0));
  if (!process.valid() ||
      pidfd_send_signal(process.get(), SIGTERM, nullptr, 0) != 0) {
    if (errno == ESRCH) return absl::OkStatus();
    return absl::ErrnoToStatus(errno, absl::StrCat("process ", pid));
  }
  pollfd ended{process.get(), POLLIN, 0};
  while (poll(&ended, 1, -1) < 0 && errno == EINTR) {
  }
  return absl::OkStatus();
}

}  // namespace

void AddDaemons(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<DaemonFlags>();
  CLI::App* ls = app.add_subcommand("ls");
  SetHelp(*ls, kLsHelp);
  ls->add_flag("--json", flags->json);
  OnUse(*ls, action, "ls", [flags] { return List(*flags); });

  CLI::App* stop = app.add_subcommand("stop");
  SetHelp(*stop, kStopHelp);
  stop->add_option("fabric,--fabric", flags->fabric);
  OnUse(*stop, action, "stop", [flags] { return Stop(*flags); });
}

}  // namespace ibemu::cli
