#include "daemon/run.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "daemon/child.h"
#include "daemon/client.h"
#include "daemon/control_socket.h"
#include "daemon/mounts.h"
#include "daemon/namespaces.h"
#include "daemon/node_supervisor.h"
#include "daemon/private_daemon.h"
#include "daemon/seccomp.h"

namespace ibemu::daemon {
namespace {

constexpr char kFabricVariable[] = "IBEMU_FABRIC";
constexpr char kHostVariable[] = "IBEMU_HOST";
constexpr mode_t kUsualUmask = 022;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Descriptors that we open must not become anyone's stdin.  What the caller
// closed is closed for the command, too.
void FillStandardStreams() {
  int fd = STDIN_FILENO;
  while (fd >= 0 && fd <= STDERR_FILENO) {
    fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  }
  if (fd >= 0) close(fd);
}

bool WantsPrivateDaemon(const RunOptions& options) {
  return options.topology || options.sm || options.seed ||
         !options.adapters.empty();
}

DaemonOptions PrivateOptions(const RunOptions& options) {
  DaemonOptions daemon;
  daemon.adapters = options.adapters;
  if (options.topology) daemon.topology = *options.topology;
  if (options.sm) daemon.sm = *options.sm;
  daemon.seed = options.seed;
  return daemon;
}

// The way to the daemon, open before the namespaces are made.
struct Uplink {
  std::optional<PrivateDaemon> daemon;  // outlives the connection
  UniqueFd connection;                  // of `daemon`; it has not spoken yet
  std::optional<Client> client;
};

absl::StatusOr<Uplink> FindDaemon(const RunOptions& options) {
  Uplink uplink;
  if (options.fabric && WantsPrivateDaemon(options)) {
    return absl::InvalidArgumentError(
        "--fabric joins a running daemon: give --topology, --sm, --seed and "
        "--backend to that ibemud instead");
  }
  const bool outer = !Variable(kFabricVariable).empty();
  if (options.fabric || (outer && !WantsPrivateDaemon(options))) {
    IBEMU_ASSIGN_OR_RETURN(uplink.client,
                           Client::Connect(options.fabric.value_or("")));
  } else {
    IBEMU_ASSIGN_OR_RETURN(
        uplink.daemon,
        PrivateDaemon::Fork(PrivateOptions(options), uplink.connection));
  }
  return uplink;
}

AttachRequest RequestOf(const RunOptions& options) {
  AttachRequest request{.hosts = options.hosts,
                        .device_name = options.device_name,
                        .profile = options.profile};
  for (const HcaChoice& adapter : options.adapters) {
    request.hosts.push_back(HcaName(adapter));
  }
  const std::string outer = Variable(kHostVariable);
  const bool same_fabric = !options.fabric && !WantsPrivateDaemon(options);
  if (request.hosts.empty() && same_fabric && !outer.empty()) {
    request.hosts = absl::StrSplit(outer, ',');
  }
  return request;
}

// IBEMU_HOST: what --host takes, comma separated.  Real adapters often call
// themselves by their product's name, all of them by the same.
std::string HostNames(const Greeting& daemon,
                      const std::vector<AttachedDevice>& devices) {
  std::vector<std::string> names;
  for (const AttachedDevice& device : devices) {
    const bool clear = daemon.backend.empty() && !device.node.empty() &&
                       device.node.find(',') == std::string::npos;
    names.push_back(clear ? device.node : device.node_guid);
  }
  return absl::StrJoin(names, ",");
}

// Where the command has to go back to, because mounts cover the place; empty:
// it is there already.
std::string CoveredDirectory() {
  char path[PATH_MAX];
  if (getcwd(path, sizeof(path)) == nullptr) return "";
  const std::string inside = absl::StrCat(path, "/");
  const bool covered =
      inside.starts_with("/dev/") || inside.starts_with("/sys/");
  return covered ? path : "";
}

// Makes the devices appear to this process and all that come from it.
absl::StatusOr<std::vector<AttachedDevice>> ShowDevices(
    const RunOptions& options, Privilege privilege, Uplink& uplink,
    const MachineFacts& machine, UniqueFd fuse) {
  IBEMU_RETURN_IF_ERROR(CarryOut(PlanStage(machine)));
  IBEMU_RETURN_IF_ERROR(
      MountFuse(fuse.get(), kFuseMount, privilege == Privilege::kMounts));
  if (!uplink.client) {
    IBEMU_ASSIGN_OR_RETURN(uplink.client,
                           Client::Adopt(uplink.connection.Release()));
  }
  IBEMU_ASSIGN_OR_RETURN(std::vector<AttachedDevice> devices,
                         uplink.client->Attach(fuse.get(), RequestOf(options)));
  fuse.Reset();  // the daemon's alone: when it closes, the devices are gone
  IBEMU_ASSIGN_OR_RETURN(const ServedFacts served, LookAtServed());
  IBEMU_RETURN_IF_ERROR(CarryOut(PlanView(machine, served)));
  return devices;
}

rlim_t DescriptorLimit() {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

// Returns the command's wait status.
absl::StatusOr<int> Launch(const RunOptions& options, Uplink& uplink) {
  Command command;
  command.arguments = options.command;
  command.directory = CoveredDirectory();
  IBEMU_ASSIGN_OR_RETURN(const Privilege privilege, EnterNamespaces());
  IBEMU_ASSIGN_OR_RETURN(UniqueFd fuse, OpenFuse());
  IBEMU_ASSIGN_OR_RETURN(const MachineFacts machine, LookAtMachine());
  const mode_t umask_before = umask(kUsualUmask);
  IBEMU_ASSIGN_OR_RETURN(
      const std::vector<AttachedDevice> devices,
      ShowDevices(options, privilege, uplink, machine, std::move(fuse)));
  umask(umask_before);

  const std::string& socket = uplink.client->greeting().socket;
  command.environment = {
      {kFabricVariable, socket},
      {kHostVariable, HostNames(uplink.client->greeting(), devices)}};
  std::optional<NodeSupervisor> nodes;
  const int first_node = FirstNodeFd(DescriptorLimit());
  // An outer run's filter is in force already, and its supervisor serves us.
  if (!machine.nested) {
    IBEMU_ASSIGN_OR_RETURN(nodes, NodeSupervisor::Fork(first_node));
  }
  const LauncherSignals signals;
  IBEMU_ASSIGN_OR_RETURN(
      const pid_t pid,
      Start(command, signals, [&nodes, first_node]() -> absl::Status {
        if (!nodes) return absl::OkStatus();
        IBEMU_ASSIGN_OR_RETURN(UniqueFd listener,
                               FilterSystemCalls(first_node));
        return nodes->HandOver(std::move(listener));
      }));
  nodes.reset();
  return Supervise(pid, signals, uplink.client->fd(), [] {
    std::fputs("ibemu run: the daemon has ended, and the devices with it\n",
               stderr);
  });
}

absl::StatusOr<int> Run(const RunOptions& options) {
  IBEMU_ASSIGN_OR_RETURN(Uplink uplink, FindDaemon(options));
  absl::StatusOr<int> wait_status = Launch(options, uplink);
  if (!uplink.daemon) return wait_status;
  if (!wait_status.ok()) uplink.daemon->Interrupt();
  if (uplink.client) {
    const std::string socket = uplink.client->greeting().socket;
    uplink.client.reset();
    uplink.daemon.reset();  // waits
    RemoveRemains(socket);  // if it was killed
  }
  return wait_status;
}

}  // namespace

int RunCommand(const RunOptions& options) {
  FillStandardStreams();
  const absl::StatusOr<int> wait_status = Run(options);
  if (wait_status.ok()) return EndLike(*wait_status);
  std::fprintf(stderr, "ibemu run: %s\n",
               std::string(wait_status.status().message()).c_str());
  return kRunFailed;
}

}  // namespace ibemu::daemon
