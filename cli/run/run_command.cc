#include "cli/run/run_command.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/did_you_mean.h"
#include "base/status_macros.h"
#include "cli/run/run.h"
#include "daemon/adapters/hca_access.h"
#include "launch/network/outside_program.h"

namespace ibemu::cli {
namespace {

constexpr char kHelp[] = R"(Usage: ibemu run [OPTION]... [--] COMMAND [ARG]...
       ibemu run --join=FABRIC|MACHINE [OPTION]... [--] COMMAND [ARG]...
       ibemu run --backend=hca ADAPTER... [--] COMMAND [ARG]...
Run COMMAND as if on a host of an InfiniBand subnet, or with adapters that are
driven from user space.

  --topology=SPEC   a file (ibnetdiscover format) or a generator; default
                    back-to-back
  --sm=none|static|builtin
                    who configures the subnet: none leaves it to COMMAND; static
                    sets LIDs, routes and ACTIVE ports at start; builtin
                    (default) is a subnet manager inside the fabric
  --seed=N          seed of losses and delays (default: drawn)
  --addresses=FILE|NETWORK
                    the IP addresses of ports, by which programs connect: lines
                    "NODE[/PORT] ADDRESS/PREFIX...", or a network to number
                    hosts in; default 198.18.0.0/15 (node-2 is 198.18.0.2)
  --fabric=NAME     join a running daemon (a name, or the path of its socket)
                    instead of starting a private one
  --join=FABRIC|MACHINE[:PORT]
                    take hosts of a running daemon's subnet over, with a private
                    daemon that has their devices and COMMAND's memory; --host
                    says which (default "any": one that nobody uses).  MACHINE:
                    another one, whose daemon listens there (port 7471 is usual);
                    a name without a port is first that of a fabric of this one
  --certs=DIR       this machine's certificates for --join=MACHINE (default:
                    IBEMU_CERTS, else ~/.config/ibemu/certs)
  --backend=hca     no simulated subnet, but the adapters that follow, and
                    COMMAND sees all of them: pci=DDDD:BB:DD.F,
                    pci=DDDD:BB:DD.F access=sysfs, or model=FABRIC/NODE, as of
                    ibemud(8); this has never been run on hardware
  --host=NODE       whose adapters COMMAND sees: a description, a name of the
                    topology file or a GUID; may be repeated; default: the first
                    channel adapter, with --join any that is free
  --no-adapter      COMMAND sees no adapter at all: the machine's are hidden, and
                    none is simulated; goes alone
  --profile=qib|hfi1|cx7
                    what kind of adapter it looks like; default: qib or hfi1,
                    whichever the installed libibverbs drives ("ibemu doctor"
                    tells). One of cx7 has no verbs: it is for tools that look
                    at sysfs and MADs
  --device-name=FMT the devices' names; default ibemu%d
  --hostname=NAME   the host name that COMMAND finds, with a boot id that
                    belongs to the host; default: the host's first word.
                    "-" leaves both as the machine has them
  --net[=WORD,...]  COMMAND has a network of its own: an interface ib0 with the
                    addresses of its host, by which plain TCP/IP reaches other
                    runs with --net, and nothing else. One run of a host at a
                    time. A WORD adds one: a P_Key in that partition, ib0.8001;
                    ether:NAME on a virtual switch of Ethernet of that name; or
                    it is "connected": packets have 65520 bytes at most, not
                    2044, where the other side has connected mode, too
  --outside=pasta|slirp4netns|none
                    the way from the network of --net to the machine's, by a
                    program that is installed; default none. For root
                    slirp4netns alone
  --state=DIR       keep in DIR what opensm, ibdiagnet and the like write to
                    /var/cache and /var/log; without, a user who may not write
                    there has private directories until COMMAND ends
  --no-fast-path    COMMAND gets no library (LD_PRELOAD) by which its calls go
                    past FUSE; IBEMU_FAST_PATH=0 in its environment does the same
  --sched=batch|inherit
                    how COMMAND is scheduled; default inherit.  batch (SCHED_BATCH): who
                    gets an answer does not take the processor from who sends
  --explain         say on stderr, when COMMAND has ended, what of its hosts failed,
                    and why: work requests, MADs, calls of verbs, connections
                    ("ibemu why" tells more)
  --lint            say on stderr, when COMMAND has ended or at once, what of its
                    use of verbs works here and may fail or hang on hardware
  --keep            when the daemon ends, and the devices with it, let COMMAND
                    go on; without, it is ended with all that it has started
                    (SIGTERM, and SIGKILL 5 s later), and the exit status is
                    125.  A daemon that was asked to end ("ibemu stop") leaves
                    COMMAND a second to end by itself, with its own status

The exit status is COMMAND's; 125 to 127 as of env(1).  Inside, IBEMU_FABRIC and
IBEMU_HOST name the fabric and the host, so that further "ibemu" commands find
them.

Example, opensm on a fat tree of 648 hosts:
  ibemu run --topology=fat-tree:radix=36,levels=2 --sm=none -- opensm
)";

struct RunFlags {
  RunOptions options;
  std::optional<std::string> backend;
  std::vector<std::string> net;  // what each --net has behind it
};

bool NamesAdapter(const std::string& word) {
  return word.starts_with("pci=") || word.starts_with("model=");
}

// Removes the words in front of the command, which name adapters, from `rest`,
// and returns them.
std::vector<std::string> TakeAdapterWords(std::vector<std::string>& rest) {
  const auto end = std::ranges::find_if(rest, [](const std::string& word) {
    return word == kCommandFollows || word.find('=') == word.npos;
  });
  std::vector<std::string> words(rest.begin(), end);
  rest.erase(rest.begin(), end);
  return words;
}

absl::Status CheckBackend(const RunFlags& flags) {
  const RunOptions& options = flags.options;
  if (*flags.backend != "hca") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--backend=", *flags.backend,
        ": there is \"hca\"; without it, --topology says which subnet is "
        "simulated"));
  }
  if (options.fabric) {
    return absl::InvalidArgumentError(
        "--fabric joins a running daemon: give --backend and the adapters to "
        "that ibemud instead");
  }
  if (options.topology || options.sm || options.seed) {
    return absl::InvalidArgumentError(
        "--topology, --sm and --seed make a simulated subnet: there is none "
        "with --backend=hca");
  }
  if (!options.hosts.empty()) {
    return absl::InvalidArgumentError(
        "--host chooses among the nodes of a daemon: with --backend=hca the "
        "command sees the adapters that are named, and all of them");
  }
  return absl::OkStatus();
}

absl::Status CheckNoAdapter(const RunFlags& flags) {
  const RunOptions& options = flags.options;
  if (!options.no_adapter) return absl::OkStatus();
  if (options.topology || options.sm || options.seed || options.addresses ||
      options.fabric || options.join || flags.backend ||
      !options.hosts.empty() || options.hostname || options.net ||
      options.outside != kNoOutside || options.state || options.explain ||
      options.lint || options.keep) {
    return absl::InvalidArgumentError(
        "--no-adapter starts and joins nothing: no option of a subnet, a "
        "daemon or a host goes together with it");
  }
  return absl::OkStatus();
}

// Whose hosts are taken over without --host, DaemonOptions::joined_hosts.
constexpr char kAnyHost[] = "any";

absl::Status TakeJoin(RunFlags& flags) {
  RunOptions& options = flags.options;
  if (!options.join) {
    if (options.certificates.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "--certs goes together with --join=MACHINE");
  }
  if (options.topology || options.sm || options.seed || options.addresses ||
      options.fabric || flags.backend) {
    return absl::InvalidArgumentError(
        "--join takes hosts of another daemon's subnet: --topology, --sm, "
        "--seed, --addresses, --fabric and --backend do not go together with "
        "it");
  }
  if (options.join->empty()) {
    return absl::InvalidArgumentError(
        "--join=: which fabric is missing: a name, the path of a socket, or "
        "MACHINE:PORT");
  }
  if (options.hosts.empty()) options.hosts = {kAnyHost};
  return absl::OkStatus();
}

absl::Status CheckSched(const std::string& sched) {
  if (sched == "batch" || sched == "inherit") return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--sched=", sched, ": there are \"batch\" and \"inherit\"",
                   DidYouMean(sched, {"batch", "inherit"}).Question()));
}

absl::Status CheckOutside(const RunOptions& options) {
  const std::string& outside = options.outside;
  if (outside == kNoOutside) return absl::OkStatus();
  if (launch::FindOutsideProgram(outside) == nullptr) {
    DidYouMean guess(outside, {kNoOutside});
    for (const launch::OutsideProgram& program : launch::OutsidePrograms()) {
      guess.Offer(program.name);
    }
    return absl::InvalidArgumentError(
        absl::StrCat("--outside=", outside,
                     ": there are \"pasta\", \"slirp4netns\" and \"none\"",
                     guess.Question()));
  }
  if (options.net) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--outside is a way out of the network that --net makes: give both");
}

// What names a switch of Ethernet among the words of --net.
constexpr char kEthernet[] = "ether:";

// What asks for connected mode there.
constexpr char kConnected[] = "connected";

// Each --net has P_Keys and switches behind it, or nothing ("true").
void TakeNetwork(RunFlags& flags) {
  RunOptions& options = flags.options;
  options.net = !flags.net.empty();
  for (const std::string& text : flags.net) {
    if (text == "true") continue;
    for (const absl::string_view word : absl::StrSplit(text, ',')) {
      if (absl::StartsWith(word, kEthernet)) {
        options.switches.emplace_back(absl::StripPrefix(word, kEthernet));
      } else if (word == kConnected) {
        options.connected = true;
      } else {
        options.partitions.emplace_back(word);
      }
    }
  }
}

// Moves the adapters at the front of `rest` to the options.
absl::Status TakeAdapters(RunFlags& flags, std::vector<std::string>& rest) {
  if (!flags.backend) {
    if (rest.empty() || !NamesAdapter(rest.front())) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        rest.front(), ": adapters go together with --backend=hca"));
  }
  IBEMU_RETURN_IF_ERROR(CheckBackend(flags));
  const std::vector<std::string> words = TakeAdapterWords(rest);
  for (const std::string& word : words) {
    if (word.starts_with('-')) {
      return absl::InvalidArgumentError(
          absl::StrCat(word, ": options come before the adapters"));
    }
  }
  IBEMU_ASSIGN_OR_RETURN(flags.options.adapters,
                         daemon::ParseHcaChoices(words));
  return absl::OkStatus();
}

// Returns the command in `rest`.  A first "--" ends our options; any other one
// belongs to the command.
std::vector<std::string> CommandIn(std::vector<std::string> rest) {
  if (!rest.empty() && rest.front() == kCommandFollows) {
    rest.erase(rest.begin());
  }
  std::replace(rest.begin(), rest.end(), std::string(kCommandFollows),
               std::string("--"));
  return rest;
}

}  // namespace

void AddRun(CLI::App& app, Action& action) {
  CLI::App* run = app.add_subcommand("run");
  SetHelp(*run, kHelp);
  run->prefix_command();
  const auto flags = std::make_shared<RunFlags>();
  RunOptions* const options = &flags->options;
  run->add_option("--topology", options->topology);
  run->add_option("--sm", options->sm);
  run->add_option("--seed", options->seed);
  run->add_option("--addresses", options->addresses);
  run->add_option("--backend", flags->backend);
  run->add_option("--join", options->join);
  run->add_option("--certs", options->certificates);
  run->add_option("--fabric", options->fabric);
  // Each --host has one value: the words after it are COMMAND.
  run->add_option("--host", options->hosts)->allow_extra_args(false);
  run->add_option("--profile", options->profile);
  run->add_option("--device-name", options->device_name);
  run->add_flag("--no-adapter", options->no_adapter);
  run->add_option("--hostname", options->hostname);
  run->add_flag("--net", flags->net);
  run->add_option("--outside", options->outside);
  run->add_option("--state", options->state);
  run->add_flag("!--no-fast-path", options->fast_path);
  run->add_option("--sched", options->sched);
  run->add_flag("--explain", options->explain);
  run->add_flag("--lint", options->lint);
  run->add_flag("--keep", options->keep);
  run->callback([run, flags, options, &action] {
    std::vector<std::string> rest = run->remaining();
    TakeNetwork(*flags);
    absl::Status taken = TakeAdapters(*flags, rest);
    if (taken.ok()) taken = CheckNoAdapter(*flags);
    if (taken.ok()) taken = TakeJoin(*flags);
    if (taken.ok()) taken = CheckOutside(*options);
    if (taken.ok()) taken = CheckSched(options->sched);
    flags->options.command = CommandIn(std::move(rest));
    action = [flags, taken] {
      if (taken.ok() && !flags->options.command.empty()) {
        return RunCommand(flags->options);
      }
      std::fprintf(stderr, "ibemu run: %s\n",
                   taken.ok() ? "a COMMAND is missing"
                              : std::string(taken.message()).c_str());
      return launch::kRunFailed;
    };
  });
}

}  // namespace ibemu::cli
