// ibemu: the command-line program.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/standard_output.h"
#include "base/version.h"
#include "cli/command_line/command_line.h"
#include "cli/commands/capture_command.h"
#include "cli/commands/change_command.h"
#include "cli/commands/console_command.h"
#include "cli/commands/counter_command.h"
#include "cli/commands/daemon_command.h"
#include "cli/commands/events_command.h"
#include "cli/commands/fault_command.h"
#include "cli/commands/hca_probe_command.h"
#include "cli/commands/health_command.h"
#include "cli/commands/program_commands.h"
#include "cli/commands/record_command.h"
#include "cli/commands/scenario_command.h"
#include "cli/commands/status_command.h"
#include "cli/commands/topology_command.h"
#include "cli/doctor/doctor_command.h"
#include "cli/lab/lab_command.h"
#include "cli/run/run_command.h"
#include "cli/run/ssh_command.h"
#include "cli/verbs/qp_command.h"
#include "cli/verbs/resource_commands.h"
#include "cli/verbs/why_command.h"

namespace {

constexpr char kHelp[] = R"(Usage: ibemu COMMAND [OPTION]...
Simulated InfiniBand subnets for unmodified programs.

  run         run a command as if on a host of a subnet
  ssh         run a command on another host of it, as ssh does
  up          a fabric and programs on its hosts, from one file
  down        end what "up" has started
  ls          the fabrics that run
  stop        end a fabric's daemon
  listen      let other machines join a fabric
  certs       make the certificates by which machines know each other
  device-plugin  give pods of a Kubernetes node its devices
  status      what a daemon serves, and to whom
  nodes       the nodes of a fabric
  links       its links
  health      what is wrong with it: links that are down or slow, errors
  link        cut or restore a link
  node        switch a node off or on
  device      pull a node's adapter out, or plug it in again
  host        show a node's devices to the whole machine, or no more
  counter     what a port has counted; make it show something else
  fault       lose, delay or corrupt packets of a link or of a queue pair, let a
              link flap, slow a node, let verbs fail
  qp          the queue pairs of adapters
  cq          the completion queues of programs
  mr          their memory regions
  srq         their shared receive queues
  mcast       the multicast groups that their queue pairs are attached to
  scenario    do all that at set times, from a file
  console     carry out the commands of ibsim
  capture     write down the packets that cross links, for tshark
  events      tell what happens, as it does
  why         why a host's work requests failed
  export      write a topology, of a running fabric or of a file
  topology    generate, convert, check or show a topology
  record      write a spec of a subnet from what tools print of it
  hca-probe   what the firmware of a real adapter says of itself
  doctor      what on this machine is in ibemu's way, and the cure

"ibemu help COMMAND" or "ibemu COMMAND --help" tells more; "ibemu --version"
prints the version.

Example, two hosts, cable to cable:
  ibemu run -- ibstat
)";

// Makes "help COMMAND" the same as "COMMAND --help".
void TurnHelp(const CLI::App& app, std::vector<std::string>& arguments) {
  if (arguments.size() < 2 || arguments[0] != "help") return;
  arguments.erase(arguments.begin());
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() != arguments[0]) continue;
    arguments.resize(1);
    arguments.emplace_back("--help");
  }
}

// Returns the arguments behind the program's name, which may be a command.
std::vector<std::string> ArgumentsOf(int argc, char** argv) {
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const std::string_view name = argc > 0 ? argv[0] : "";
  if (name.ends_with(ibemu::cli::kSshProgram)) {
    arguments.insert(arguments.begin(), "ssh");
  }
  return arguments;
}

int Main(std::vector<std::string> arguments) {
  CLI::App app("", "ibemu");
  ibemu::cli::SetHelp(app, kHelp);
  app.set_version_flag("-v,--version",
                       absl::StrCat("ibemu ", ibemu::Version()));
  ibemu::cli::Action action;
  ibemu::cli::AddRun(app, action);
  ibemu::cli::AddSsh(app, action);
  ibemu::cli::AddLab(app, action);
  ibemu::cli::AddDaemons(app, action);
  ibemu::cli::AddProgramCommands(app, action);
  ibemu::cli::AddStatus(app, action);
  ibemu::cli::AddHealth(app, action);
  ibemu::cli::AddChanges(app, action);
  ibemu::cli::AddConsole(app, action);
  ibemu::cli::AddCounter(app, action);
  ibemu::cli::AddFault(app, action);
  ibemu::cli::AddQp(app, action);
  ibemu::cli::AddResources(app, action);
  ibemu::cli::AddCapture(app, action);
  ibemu::cli::AddEvents(app, action);
  ibemu::cli::AddWhy(app, action);
  ibemu::cli::AddScenario(app, action);
  ibemu::cli::AddTopology(app, action);
  ibemu::cli::AddRecord(app, action);
  ibemu::cli::AddHcaProbe(app, action);
  ibemu::cli::AddDoctor(app, action);
  CLI::App* help = app.add_subcommand("help");
  ibemu::cli::SetHelp(*help, kHelp);
  help->callback([&action] {
    action = [] {
      ibemu::Print(kHelp);
      return 0;
    };
  });
  TurnHelp(app, arguments);
  if (const auto status = ibemu::cli::Parse(app, std::move(arguments))) {
    return *status;
  }
  return action();
}

}  // namespace

// Only bugs and a lack of memory cause exceptions.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  return ibemu::FinishOutput("ibemu", Main(ArgumentsOf(argc, argv)));
}
