// ibemud: the daemon.
#include <sys/socket.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/standard_output.h"
#include "base/version.h"
#include "cli/command_line/command_line.h"
#include "cli/profile/profile_choice.h"
#include "daemon/run_daemon.h"
#include "launch/descriptor_limit.h"
#include "launch/standard_streams.h"
#include "sysfs/profile.h"

namespace {

using ibemu::cli::kUsageError;

constexpr char kHelp[] = R"(Usage: ibemud [--topology=]SPEC [OPTION]...
       ibemud --join=FABRIC|MACHINE --host=NODE... [OPTION]...
       ibemud --backend=hca pci=DDDD:BB:DD.F [access=vfio|sysfs] [OPTION]...
Own one simulated InfiniBand subnet, have some hosts of another daemon's, or
drive real adapters from user space, and serve it to "ibemu run --fabric".

  --topology=SPEC   a file (ibnetdiscover format, "-" is standard input) or a
                    generator: back-to-back, single-switch:hosts=8,
                    fat-tree:radix=36,levels=2, torus:4x4x4, dragonfly:...
  --sm=none|static|builtin
                    who configures the subnet: none leaves it to an opensm on one
                    of the hosts; static sets LIDs, routes and ACTIVE ports at
                    start; builtin (default) is a subnet manager inside the
                    fabric, which an opensm may take over from
  --join=FABRIC|MACHINE[:PORT]
                    no subnet, but hosts of the one that another ibemud serves
                    under that name, at that socket, or on another machine with
                    --listen (a name that is no fabric's is a machine's; port
                    7471 is usual): their devices and the memory of their
                    programs are this daemon's
  --listen=ADDRESS|PORT|ADDRESS:PORT
                    let other machines join, those with certificates of the same
                    authority (usual are all addresses and port 7471); "ibemu
                    listen" does it for a daemon that runs
  --encrypt         with --listen: have packets of queue pairs encrypted, too,
                    when they go from machine to machine; all else always is
  --exact           have packets between joined hosts all pass this daemon, in
                    its order, and none directly: slower
  --journal=FILE    go on where the last daemon with this file ended, however it
                    did: cables, what is cut or off, faults, GUIDs, LIDs, the
                    seed; made if it is not there
  --certs=DIR       with --listen and --join=MACHINE: this machine's
                    certificates (default: IBEMU_CERTS, else
                    ~/.config/ibemu/certs); "ibemu certs" makes them
  --backend=hca     no simulated subnet, but the adapters that follow (repeat for
                    more); this has never been run on hardware
  pci=DDDD:BB:DD.F  a ConnectX to ConnectX-3 ("lspci -D -d 15b3:" lists them)
  access=vfio|sysfs how the adapter before it is reached (default: vfio); see
                    "ibemu hca-probe --help"
  model=FABRIC/NODE instead of a real adapter a modelled one, which is a node of
                    the fabric that another ibemud serves under that name
  --front-end=cuse  show devices to the whole machine: needs root and the
                    kernel's "cuse" module
  --host=NODE       with --join: which hosts (repeat for more; "any": one that
                    nobody uses); with
                    --front-end=cuse: whose devices (repeat for more; default:
                    the first adapter)
  --profile=qib|hfi1|cx7
                    with --front-end=cuse: what kind of adapter they look like,
                    as of "ibemu run"
  --sysfs=none      with --front-end=cuse: leave /sys/class as it is; the entries
                    are in /run/ibemu/sys/sys then
  --major=N         with --front-end=cuse: the devices' major number (default:
                    231, Linux's own, which a loaded ib_umad has; 0: the kernel
                    chooses all numbers)
  --name=NAME       the fabric's name, for --fabric=NAME (default: default)
  --socket=PATH     the control socket, instead of --name
  --http=127.0.0.1:PORT
                    show the live view there (the log says its address with the
                    token), or the adapters, and /metrics, /metrics/ports (for
                    Prometheus) and /health; to this machine alone; port 0: the
                    kernel chooses
  --seed=N          seed of losses and delays (default: drawn and printed)
  --addresses=FILE|NETWORK
                    the IP addresses of ports, by which programs connect: lines
                    "NODE[/PORT] ADDRESS/PREFIX...", or a network to number
                    hosts in (default: 198.18.0.0/15, in which node-2 has
                    198.18.0.2; real adapters have none)
  --check           load and verify (with --backend=hca: reset each adapter and
                    print what its firmware says), then exit: 0 without faults,
                    else 1
  --version         print the version

A line with "ready" on standard error says that clients may come.  SIGTERM and
SIGINT end the daemon; programs on its hosts then get errors.

Example, in two terminals:
  ibemud --topology=fat-tree:radix=36,levels=2 --sm=none
  ibemu run --fabric=default -- opensm
)";

constexpr int kLastMajor = 511;

struct Flags {
  ibemu::daemon::DaemonOptions daemon;
  std::string topology;
  std::vector<std::string> adapters;
  std::string name;
  std::vector<std::string> hosts;
  std::string front_end;
  std::string backend;
  std::string join;
  std::optional<std::string> listen;
  std::string sysfs;
  std::optional<std::string> profile;
  std::string http;
  std::optional<int> major_number;
  std::optional<std::string> sm;
  std::optional<uint64_t> seed;
  // For `ibemu run` and its kind, so not in the help: the end of a socket pair,
  // at which this is their private daemon.
  std::optional<int> private_end;
};

bool IsSocket(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

bool NamesAdapter(const std::string& word) {
  return word.starts_with("pci=") || word.starts_with("access=") ||
         word.starts_with("model=");
}

// A word without --topology may be the subnet.
void TakeTopology(Flags& flags) {
  if (!flags.backend.empty() || !flags.join.empty() ||
      !flags.topology.empty() || flags.adapters.empty() ||
      NamesAdapter(flags.adapters.front())) {
    return;
  }
  flags.topology = flags.adapters.front();
  flags.adapters.erase(flags.adapters.begin());
}

// The same of --join.
std::string JoinMistake(const Flags& flags) {
  if (!flags.topology.empty() || flags.sm || flags.seed ||
      flags.daemon.addresses || !flags.backend.empty() ||
      !flags.adapters.empty()) {
    return "--join takes hosts of another daemon's subnet: give --topology, "
           "--sm, --seed, --addresses and --backend to that ibemud instead";
  }
  if (flags.hosts.empty()) {
    return "--join: which hosts is missing: give --host=NODE";
  }
  if (flags.daemon.check || !flags.http.empty() || flags.listen ||
      flags.daemon.exact || flags.daemon.journal) {
    return "--check, --http, --listen, --exact and --journal are for the "
           "daemon that has the subnet, not for one that joins it";
  }
  return "";
}

// Returns what is wrong with the back end's flags; empty if they make sense
// together.
std::string BackendMistake(const Flags& flags) {
  if (!flags.join.empty()) return JoinMistake(flags);
  if (!flags.backend.empty() && flags.backend != "hca") {
    return absl::StrCat("--backend=", flags.backend,
                        ": there is \"hca\"; without it, --topology says which "
                        "subnet is simulated");
  }
  if (flags.backend.empty()) {
    if (!flags.adapters.empty()) {
      return absl::StrCat(flags.adapters.front(),
                          NamesAdapter(flags.adapters.front())
                              ? ": adapters go together with --backend=hca"
                              : ": one subnet has been named already");
    }
    if (flags.topology.empty()) {
      return "which subnet is missing: a file, or for instance "
             "single-switch:hosts=8";
    }
    return "";
  }
  if (!flags.topology.empty() || flags.sm || flags.seed || flags.listen ||
      flags.daemon.exact || flags.daemon.journal) {
    return "--topology, --seed, --listen, --exact, --journal and --sm are of a "
           "simulated subnet: there is none with --backend=hca";
  }
  return "";
}

// The same of --private.
std::string PrivateMistake(const Flags& flags) {
  if (!flags.private_end) return "";
  if (!IsSocket(*flags.private_end)) {
    return absl::StrCat("--private=", *flags.private_end,
                        ": no open socket: it is for \"ibemu run\"");
  }
  if (flags.daemon.check || flags.daemon.journal || !flags.http.empty() ||
      !flags.front_end.empty()) {
    return "--private makes a daemon of one run or lab: --check, --journal, "
           "--http and --front-end do not go together with it";
  }
  return "";
}

// Returns what is wrong with the flags; empty if they make sense together.
std::string Mistake(const Flags& flags) {
  if (!flags.front_end.empty() && flags.front_end != "cuse") {
    return absl::StrCat("--front-end=", flags.front_end, ": there is \"cuse\"");
  }
  if (flags.front_end.empty() &&
      !((flags.hosts.empty() || !flags.join.empty()) && flags.sysfs.empty() &&
        !flags.profile && !flags.major_number)) {
    return "--host, --profile, --sysfs and --major belong to --front-end=cuse, "
           "which shows devices to the whole machine: use \"ibemu run --fabric "
           "--host\"";
  }
  if (!flags.sysfs.empty() && flags.sysfs != "none") {
    return absl::StrCat("--sysfs=", flags.sysfs, ": there is \"none\"");
  }
  // MAJOR() has 12 bits, and the kernel allocates only numbers below 512
  // (CHRDEV_MAJOR_MAX in include/linux/fs.h).
  if (flags.major_number.value_or(0) < 0 ||
      flags.major_number.value_or(0) > kLastMajor) {
    return absl::StrCat("--major=", *flags.major_number,
                        ": a character device's major number is at most ",
                        kLastMajor, "; 0 lets the kernel choose");
  }
  if (std::string mistake = BackendMistake(flags); !mistake.empty()) {
    return mistake;
  }
  if (!flags.daemon.certificates.empty() && flags.join.empty() &&
      !flags.listen) {
    return "--certs goes together with --listen or --join=MACHINE";
  }
  if (flags.daemon.encrypt && !flags.listen) {
    return "--encrypt goes together with --listen: the machine that has the "
           "subnet says how others speak to each other";
  }
  if (flags.daemon.journal && flags.daemon.check) {
    return "--check starts nothing that a journal could go on with: leave out "
           "--journal";
  }
  if (flags.daemon.journal && flags.daemon.journal->empty()) {
    return "--journal= has no name of a file";
  }
  if (std::string mistake = PrivateMistake(flags); !mistake.empty()) {
    return mistake;
  }
  if (!flags.name.empty() && !flags.daemon.socket.empty()) {
    return "--name and --socket exclude each other";
  }
  if (flags.name.find('/') != std::string::npos) {
    return absl::StrCat("--name=", flags.name,
                        ": a name has no slash: use --socket for a path");
  }
  return "";
}

// Tells who gave the flags what is wrong with them, and returns an exit status.
int Refuse(const Flags& flags, const std::string& mistake) {
  if (flags.private_end && IsSocket(*flags.private_end)) {
    ibemu::daemon::RefusePrivateDaemon(absl::InvalidArgumentError(mistake),
                                       *flags.private_end);
  } else {
    std::fprintf(stderr, "ibemud: %s\n", mistake.c_str());
  }
  return kUsageError;
}

int Main(std::vector<std::string> arguments) {
  ibemu::launch::FillStandardStreams();
  Flags flags;
  CLI::App app("", "ibemud");
  ibemu::cli::SetHelp(app, kHelp);
  app.set_version_flag("-v,--version",
                       absl::StrCat("ibemud ", ibemu::Version()));
  app.add_option("--topology", flags.topology);
  app.add_option("--sm", flags.sm);
  app.add_option("--name", flags.name);
  app.add_option("--socket", flags.daemon.socket);
  app.add_option("--seed", flags.seed);
  app.add_option("--addresses", flags.daemon.addresses);
  app.add_option("--host", flags.hosts)->allow_extra_args(false);
  app.add_option("--front-end", flags.front_end);
  app.add_option("--profile", flags.profile);
  app.add_option("--sysfs", flags.sysfs);
  app.add_option("--major", flags.major_number);
  app.add_option("--http", flags.http);
  app.add_option("--join", flags.join);
  app.add_option("--listen", flags.listen);
  app.add_flag("--encrypt", flags.daemon.encrypt);
  app.add_flag("--exact", flags.daemon.exact);
  app.add_option("--journal", flags.daemon.journal);
  app.add_option("--certs", flags.daemon.certificates);
  app.add_option("--backend", flags.backend);
  app.add_option("adapters", flags.adapters);
  app.add_flag("--check", flags.daemon.check);
  app.add_option("--private", flags.private_end)->group("");
  if (const auto status = ibemu::cli::Parse(app, std::move(arguments))) {
    return *status;
  }
  TakeTopology(flags);
  if (const std::string mistake = Mistake(flags); !mistake.empty()) {
    return Refuse(flags, mistake);
  }
  if (!flags.backend.empty()) {
    auto adapters = ibemu::daemon::ParseHcaChoices(flags.adapters);
    if (!adapters.ok()) {
      return Refuse(flags, std::string(adapters.status().message()));
    }
    flags.daemon.adapters = *std::move(adapters);
  }
  if (!flags.front_end.empty()) {
    const auto profile =
        ibemu::sysfs::ParseProfile(ibemu::cli::ProfileOr(flags.profile));
    if (!profile.ok()) {
      return Refuse(flags, std::string(profile.status().message()));
    }
    flags.daemon.profile = *profile;
  }
  if (!flags.http.empty()) {
    auto address = ibemu::daemon::WebAddress::Parse(flags.http);
    if (!address.ok()) {
      return Refuse(flags, absl::StrCat("--http=", address.status().message()));
    }
    flags.daemon.web = *std::move(address);
  }
  flags.daemon.topology = flags.topology;
  if (flags.sm) flags.daemon.sm = *flags.sm;
  flags.daemon.seed = flags.seed;
  flags.daemon.system_wide = !flags.front_end.empty();
  flags.daemon.hosts = flags.hosts;
  flags.daemon.join = flags.join;
  flags.daemon.listen = flags.listen;
  if (!flags.join.empty()) flags.daemon.joined_hosts = flags.hosts;
  flags.daemon.cover_sys_class = flags.sysfs != "none";
  flags.daemon.major_number = flags.major_number.value_or(ibemu::sysfs::kMajor);
  if (!flags.name.empty()) flags.daemon.socket = flags.name;
  // Each joined host has two connections, with two descriptors each.
  if (!flags.private_end || flags.listen || !flags.join.empty()) {
    ibemu::launch::RaiseDescriptorLimit();
  }
  if (flags.private_end) {
    return ibemu::daemon::RunPrivateDaemon(flags.daemon, *flags.private_end);
  }
  return ibemu::daemon::RunDaemon(flags.daemon);
}

}  // namespace

// Only bugs and a lack of memory cause exceptions.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  return ibemu::FinishOutput("ibemud", Main({argv + 1, argv + argc}));
}
