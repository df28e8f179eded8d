#include "cli/run/run.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "cli/profile/profile_choice.h"
#include "cli/run/explanation.h"
#include "cli/run/mpi.h"
#include "cli/run/preload.h"
#include "cli/run/private_daemon.h"
#include "cli/run/run_network.h"
#include "cli/run/ssh_command.h"
#include "control/client.h"
#include "launch/child.h"
#include "launch/descendants.h"
#include "launch/host_identity.h"
#include "launch/in_child.h"
#include "launch/mounts.h"
#include "launch/namespaces.h"
#include "launch/network/network_devices.h"
#include "launch/network/outside_network.h"
#include "launch/network/outside_program.h"
#include "launch/own_program.h"
#include "launch/standard_streams.h"
#include "launch/supervisor/node_supervisor.h"
#include "launch/supervisor/seccomp.h"

namespace ibemu::cli {
namespace {

constexpr char kFabricVariable[] = "IBEMU_FABRIC";
constexpr char kHostVariable[] = "IBEMU_HOST";
constexpr char kMachinesName[] = "-";
constexpr char kProfileWithoutVerbs[] = "cx7";
constexpr char kBatch[] = "batch";
constexpr mode_t kUsualUmask = 022;
// For a command whose devices have gone.  A script that has ended the daemon
// itself should come to its own end; opensm fills the disk meanwhile.
constexpr absl::Duration kLeave = absl::Seconds(1), kGrace = absl::Seconds(5);

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool WantsPrivateDaemon(const RunOptions& options) {
  return options.topology || options.sm || options.seed || options.addresses ||
         options.join || !options.adapters.empty();
}

daemon::DaemonOptions PrivateOptions(const RunOptions& options) {
  daemon::DaemonOptions daemon;
  daemon.adapters = options.adapters;
  if (options.join) {
    daemon.join = *options.join;
    daemon.joined_hosts = options.hosts;
    daemon.certificates = options.certificates;
  }
  if (options.topology) daemon.topology = *options.topology;
  if (options.sm) daemon.sm = *options.sm;
  daemon.seed = options.seed;
  daemon.addresses = options.addresses;
  return daemon;
}

// The way to the daemon, open before the namespaces are made.
struct Uplink {
  std::optional<PrivateDaemon> daemon;  // outlives the connection
  UniqueFd connection;                  // of `daemon`; it has not spoken yet
  std::optional<control::Client> client;
};

absl::StatusOr<Uplink> FindDaemon(const RunOptions& options) {
  Uplink uplink;
  if (options.fabric && WantsPrivateDaemon(options)) {
    return absl::InvalidArgumentError(
        "--fabric joins a running daemon: give --topology, --sm, --seed, "
        "--addresses and --backend to that ibemud instead");
  }
  const bool outer = !Variable(kFabricVariable).empty();
  if (options.fabric || (outer && !WantsPrivateDaemon(options))) {
    IBEMU_ASSIGN_OR_RETURN(
        uplink.client, control::Client::Connect(options.fabric.value_or("")));
  } else {
    IBEMU_ASSIGN_OR_RETURN(
        uplink.daemon,
        PrivateDaemon::Start(PrivateOptions(options), uplink.connection));
  }
  return uplink;
}

control::AttachRequest RequestOf(const RunOptions& options) {
  control::AttachRequest request{.hosts = options.hosts,
                                 .device_name = options.device_name,
                                 .profile = ProfileOr(options.profile)};
  for (const daemon::HcaChoice& adapter : options.adapters) {
    request.hosts.push_back(daemon::HcaName(adapter));
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
std::string HostNames(const control::Greeting& daemon,
                      const std::vector<control::AttachedDevice>& devices) {
  std::vector<std::string> names;
  for (const control::AttachedDevice& device : devices) {
    const bool clear = daemon.backend.empty() && !device.node.empty() &&
                       device.node.find(',') == std::string::npos;
    names.push_back(clear ? device.node : device.node_guid);
  }
  return absl::StrJoin(names, ",");
}

// Returns the working directory if mounts cover it, so that the command has to
// enter it again; else "".
std::string CoveredDirectory() {
  char path[PATH_MAX];
  if (getcwd(path, sizeof(path)) == nullptr) return "";
  const std::string inside = absl::StrCat(path, "/");
  const bool covered =
      inside.starts_with("/dev/") || inside.starts_with("/sys/");
  return covered ? path : "";
}

// What the daemon gives a run.
struct Given {
  control::Attached attached;
  RunNetwork network;  // empty without --net
};

// Makes the devices appear to this process and all that come from it.
absl::StatusOr<Given> ShowDevices(const RunOptions& options,
                                  launch::Privilege privilege, Uplink& uplink,
                                  const launch::MachineFacts& machine,
                                  UniqueFd fuse) {
  IBEMU_RETURN_IF_ERROR(launch::CarryOut(launch::PlanStage(machine)));
  IBEMU_RETURN_IF_ERROR(launch::MountFuse(
      fuse.get(), launch::kFuseMount, privilege == launch::Privilege::kMounts));
  if (!uplink.client) {
    IBEMU_ASSIGN_OR_RETURN(uplink.client,
                           control::Client::Adopt(uplink.connection.Release()));
  }
  const control::AttachRequest request = RequestOf(options);
  Given given;
  // First, for what is then attached shows the interfaces, too.
  if (options.net) {
    IBEMU_ASSIGN_OR_RETURN(
        given.network,
        AttachNetwork(*uplink.client, request.hosts, options.partitions,
                      options.switches, options.connected));
  }
  IBEMU_ASSIGN_OR_RETURN(given.attached,
                         uplink.client->Attach(fuse.get(), request));
  fuse.Reset();  // the daemon's alone: when it closes, the devices are gone
  IBEMU_ASSIGN_OR_RETURN(const launch::ServedFacts served,
                         launch::LookAtServed());
  IBEMU_RETURN_IF_ERROR(launch::CarryOut(launch::PlanView(machine, served)));
  return given;
}

// The host that the command believes itself on; an empty name: the machine,
// which knows the names of the others, too.
absl::StatusOr<launch::HostIdentity> HostOf(
    const RunOptions& options, const control::Greeting& daemon,
    const Given& given, const launch::MachineFacts& machine) {
  const std::vector<control::AttachedDevice>& devices = given.attached.devices;
  launch::HostIdentity host;
  if (const std::string own = AddressOf(given.network); !own.empty()) {
    host.address = own;
  }
  for (const control::NamedAddress& other : given.attached.names) {
    const bool is_elsewhere =
        std::ranges::count(options.switches, other.ethernet) != 0 &&
        other.ethernet != options.switches.front();
    if (is_elsewhere) continue;
    std::string name = launch::HostName(other.node);
    for (const std::string& network : {other.partition, other.ethernet}) {
      if (!name.empty() && !network.empty()) {
        absl::StrAppend(&name, ".", network);
      }
    }
    host.others.push_back({other.address, std::move(name)});
  }
  if (options.hostname == kMachinesName) return host;
  if (options.hostname) {
    host.name = *options.hostname;
    if (host.name.empty() || launch::HostName(host.name) != host.name) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--hostname=", host.name,
          ": a name has letters, digits, dots and hyphens, at most 63, and \"",
          kMachinesName, "\" is the machine's own"));
    }
  } else if (daemon.backend.empty()) {
    // Adapters of this machine do not make another one of it.
    host.name = launch::HostName(devices.front().node);
  }
  if (host.name.empty() || machine.boot_id.empty()) return host;
  host.boot_id =
      launch::BootId(machine.boot_id, daemon.socket, devices.front().node_guid);
  return host;
}

// Gives opensm and its kind places to write to; what was mounted for it.
absl::StatusOr<launch::MountPlan> CoverState(const RunOptions& options) {
  if (options.state && mkdir(options.state->c_str(), 0777) != 0 &&
      errno != EEXIST) {
    return absl::ErrnoToStatus(errno, "--state=" + *options.state);
  }
  launch::MountPlan plan =
      launch::PlanState(launch::LookAtState(), options.state);
  IBEMU_RETURN_IF_ERROR(launch::CarryOut(plan));
  return plan;
}

// Adds what brings our libraries into the command.
void AddLibraries(const RunOptions& options, const std::string& program,
                  launch::Variables& environment) {
  std::vector<std::string> libraries;
  if (options.fast_path) libraries.push_back(FindPreload(program, kFastPath));
  if (options.lint) libraries.push_back(FindPreload(program, kLint));
  for (auto& variable : PreloadVariables(libraries, Variable("LD_PRELOAD"),
                                         Variable("ASAN_OPTIONS"))) {
    environment.push_back(std::move(variable));
  }
}

// Adds what MPI needs.
void AddMpi(const std::string& program, const control::Greeting& daemon,
            launch::Variables& environment) {
  std::string ssh =
      absl::StrCat(program.substr(0, program.rfind('/') + 1), kSshProgram);
  // The hosts are no others', or ibemu was copied alone.
  if (!daemon.backend.empty() || access(ssh.c_str(), X_OK) != 0) ssh.clear();
  for (auto& variable : MpiVariables(ssh, [](const char* name) {
         return std::getenv(name) != nullptr;
       })) {
    environment.push_back(std::move(variable));
  }
}

// A thread that an answer wakes else takes the processor from the one that goes
// on to send: opensm switched five times as often.
void Schedule(const RunOptions& options) {
  if (options.sched != kBatch || sched_getscheduler(0) != SCHED_OTHER) return;
  const sched_param none = {};
  sched_setscheduler(0, SCHED_BATCH, &none);  // anybody may
}

rlim_t DescriptorLimit() {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

// Forks the process that will connect the run's network to the machine's;
// nothing if that is not wanted.
absl::StatusOr<std::optional<launch::OutsideNetwork>> ForkOutside(
    const RunOptions& options) {
  if (options.outside == kNoOutside) return std::nullopt;
  IBEMU_ASSIGN_OR_RETURN(launch::OutsideNetwork outside,
                         launch::OutsideNetwork::Fork(
                             *launch::FindOutsideProgram(options.outside)));
  return std::optional(std::move(outside));
}

// Connects the run's network to the machine's, and gives the run the name
// server that is there, if the machine has one.
absl::Status ConnectOutside(launch::OutsideNetwork& outside,
                            launch::Privilege privilege) {
  IBEMU_RETURN_IF_ERROR(outside.Connect(privilege));
  const std::optional<std::string_view> server = outside.NameServer();
  std::ifstream file(launch::kResolver);
  if (!file || !server) return absl::OkStatus();
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return launch::CarryOut(
      launch::PlanResolver(launch::WithNameServer(text, *server)));
}

// Returns the command's wait status.
absl::StatusOr<int> Launch(const RunOptions& options, Uplink& uplink,
                           std::optional<launch::OutsideNetwork>& outside) {
  launch::ChildCommand command;
  command.arguments = options.command;
  command.directory = CoveredDirectory();
  IBEMU_ASSIGN_OR_RETURN(
      const launch::Privilege privilege,
      launch::EnterNamespaces(options.net ? launch::Network::kOwn
                                          : launch::Network::kShared));
  IBEMU_ASSIGN_OR_RETURN(UniqueFd fuse, launch::OpenFuse());
  IBEMU_ASSIGN_OR_RETURN(const launch::MachineFacts machine,
                         launch::LookAtMachine());
  const mode_t umask_before = umask(kUsualUmask);
  IBEMU_ASSIGN_OR_RETURN(Given given, ShowDevices(options, privilege, uplink,
                                                  machine, std::move(fuse)));
  if (options.profile == kProfileWithoutVerbs) {
    std::fputs(
        "ibemu run: --profile=cx7: there is no /dev/infiniband/uverbsN, for "
        "libibverbs would take the adapter for one that we are not: verbs "
        "need --profile=qib or --profile=hfi1\n",
        stderr);
  }
  IBEMU_ASSIGN_OR_RETURN(
      const launch::HostIdentity host,
      HostOf(options, uplink.client->greeting(), given, machine));
  if (!host.name.empty() || !host.others.empty()) {
    const absl::Status status = launch::BecomeHost(host);
    if (!status.ok() && options.hostname && !host.name.empty()) return status;
    if (!status.ok()) {
      std::fprintf(
          stderr, "ibemu run: %s: %s\n", std::string(status.message()).c_str(),
          host.name.empty()
              ? "/etc/hosts is the machine's, without the fabric's hosts"
              : "the host name is the machine's, as with --hostname=-");
    }
  }
  IBEMU_ASSIGN_OR_RETURN(const launch::MountPlan state, CoverState(options));
  if (options.net) {
    IBEMU_RETURN_IF_ERROR(BringUp(*uplink.client, given.network));
  }
  if (outside) IBEMU_RETURN_IF_ERROR(ConnectOutside(*outside, privilege));
  umask(umask_before);

  const std::string& socket = uplink.client->greeting().socket;
  command.environment = {{kFabricVariable, socket},
                         {kHostVariable, HostNames(uplink.client->greeting(),
                                                   given.attached.devices)}};
  std::optional<Explanation> explanation;
  const Explanation::Wanted wanted = {.failures = options.explain,
                                      .pitfalls = options.lint};
  if (wanted.any()) {
    std::vector<std::string> hosts;
    for (const auto& device : given.attached.devices) {
      hosts.push_back(device.node_guid);
    }
    IBEMU_ASSIGN_OR_RETURN(
        explanation, Explanation::Begin(socket, std::move(hosts), wanted));
  }
  if (const std::string program = launch::ThisProgram(); !program.empty()) {
    AddLibraries(options, program, command.environment);
    AddMpi(program, uplink.client->greeting(), command.environment);
  }
  std::optional<launch::NodeSupervisor> nodes;
  const launch::NodeFds node_fds = launch::NodeFdsFor(DescriptorLimit());
  // An outer run's filter is in force already, and its supervisor serves us.
  if (!machine.nested) {
    IBEMU_ASSIGN_OR_RETURN(nodes, launch::NodeSupervisor::Fork(node_fds));
  }
  const launch::LauncherSignals signals;
  IBEMU_ASSIGN_OR_RETURN(
      const pid_t pid, launch::Start(command, signals, [&]() -> absl::Status {
        Schedule(options);
        if (!nodes) return absl::OkStatus();
        IBEMU_ASSIGN_OR_RETURN(UniqueFd listener,
                               launch::FilterSystemCalls(node_fds));
        return nodes->HandOver(std::move(listener));
      }));
  nodes.reset();
  const int wait_status = launch::Supervise(
      pid, signals, uplink.client->fd(), [&]() -> launch::Grace {
        std::fputs("ibemu run: the daemon has ended, and the devices with it\n",
                   stderr);
        if (options.keep) return std::nullopt;
        const bool asked = uplink.client->WasAskedToEnd();
        return launch::EndOfDevices{asked ? kLeave : absl::ZeroDuration(),
                                    kGrace};
      });
  if (explanation) {
    std::fputs(explanation->Text(wait_status != 0).c_str(), stderr);
  }
  // What the command has left behind shares our mounts.  The next run takes
  // over what stays.
  const bool alone = launch::DescendantsOf(getpid(), launch::RunningProcesses(),
                                           signals.others())
                         .empty();
  if (options.state && alone) launch::CleanUp(state);
  return wait_status;
}

// The same, of a command that is to see no adapter at all.
absl::StatusOr<int> LaunchWithoutAdapter(const RunOptions& options) {
  launch::ChildCommand command;
  command.arguments = options.command;
  command.directory = CoveredDirectory();
  IBEMU_RETURN_IF_ERROR(launch::EnterNamespaces().status());
  IBEMU_ASSIGN_OR_RETURN(const std::vector<std::string> classes,
                         launch::NamesIn(launch::kSysClass));
  const bool has_nodes = access("/dev/infiniband", F_OK) == 0;
  IBEMU_RETURN_IF_ERROR(
      launch::CarryOut(launch::PlanNoAdapter(has_nodes, classes)));
  const launch::LauncherSignals signals;
  IBEMU_ASSIGN_OR_RETURN(
      const pid_t pid,
      launch::Start(command, signals, &launch::HideKernelAdapters));
  return launch::Supervise(pid, signals, -1,
                           []() -> launch::Grace { return std::nullopt; });
}

absl::StatusOr<int> Run(const RunOptions& options) {
  if (options.no_adapter) return LaunchWithoutAdapter(options);
  // Before a daemon starts, which may take its time.
  if (options.net) IBEMU_RETURN_IF_ERROR(launch::InChild(&launch::TryNetwork));
  // Before there is a daemon, whose connection that process would keep.
  IBEMU_ASSIGN_OR_RETURN(std::optional<launch::OutsideNetwork> outside,
                         ForkOutside(options));
  IBEMU_ASSIGN_OR_RETURN(Uplink uplink, FindDaemon(options));
  absl::StatusOr<int> wait_status = Launch(options, uplink, outside);
  if (!uplink.daemon) return wait_status;
  if (!wait_status.ok()) uplink.daemon->Interrupt();
  if (uplink.client) {
    EndPrivateDaemon(*std::move(uplink.daemon), *std::move(uplink.client));
  }
  return wait_status;
}

}  // namespace

int RunCommand(const RunOptions& options) {
  launch::FillStandardStreams();
  const absl::StatusOr<int> wait_status = Run(options);
  if (wait_status.ok()) return launch::EndLike(*wait_status);
  std::fprintf(stderr, "ibemu run: %s\n",
               std::string(wait_status.status().message()).c_str());
  return launch::kRunFailed;
}

}  // namespace ibemu::cli
