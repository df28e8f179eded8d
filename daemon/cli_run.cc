// ibemu run.
#include <CLI/App.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "daemon/cli.h"
#include "daemon/run.h"

namespace ibemu::daemon {
namespace {

constexpr char kHelp[] = R"(Usage: ibemu run [OPTION]... [--] COMMAND [ARG]...
Run COMMAND as if on a host of an InfiniBand subnet.

  --topology=SPEC   a file (ibnetdiscover format) or a generator; default
                    back-to-back
  --sm=none|static|builtin
                    who configures the subnet: none leaves it to COMMAND; static
                    sets LIDs, routes and ACTIVE ports at start; builtin
                    (default) is a subnet manager inside the fabric
  --seed=N          seed of losses and delays (default: drawn)
  --fabric=NAME     join a running daemon (a name, or the path of its socket)
                    instead of starting a private one
  --host=NODE       whose adapters COMMAND sees: a description, a name of the
                    topology file or a GUID; may be repeated; default: the first
                    channel adapter
  --profile=qib|cx7 what kind of adapter it looks like; default qib
  --device-name=FMT the devices' names; default ibemu%d

The exit status is COMMAND's; 125 to 127 as of env(1).  Inside, IBEMU_FABRIC and
IBEMU_HOST name the fabric and the host, so that further "ibemu" commands find
them.

Example, opensm on a fat tree of 648 hosts:
  ibemu run --topology=fat-tree:radix=36,levels=2 --sm=none -- opensm
)";

// A "--" is the end of our options or belongs to the command.
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
  const auto options = std::make_shared<RunOptions>();
  run->add_option("--topology", options->topology);
  run->add_option("--sm", options->sm);
  run->add_option("--seed", options->seed);
  run->add_option("--fabric", options->fabric);
  // One value each time: what follows is COMMAND.
  run->add_option("--host", options->hosts)->allow_extra_args(false);
  run->add_option("--profile", options->profile);
  run->add_option("--device-name", options->device_name);
  run->callback([run, options, &action] {
    options->command = CommandIn(run->remaining());
    action = [options] {
      if (!options->command.empty()) return RunCommand(*options);
      std::fputs("ibemu run: a COMMAND is missing\n", stderr);
      return kRunFailed;
    };
  });
}

}  // namespace ibemu::daemon
