// ibemu: the command that people type.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/capture_command.h"
#include "daemon/change_command.h"
#include "daemon/command_line.h"
#include "daemon/console_command.h"
#include "daemon/counter_command.h"
#include "daemon/doctor_command.h"
#include "daemon/events_command.h"
#include "daemon/fault_command.h"
#include "daemon/hca_probe_command.h"
#include "daemon/record_command.h"
#include "daemon/run_command.h"
#include "daemon/scenario_command.h"
#include "daemon/status_command.h"
#include "daemon/topology_command.h"
#include "daemon/version.h"

namespace {

constexpr char kHelp[] = R"(Usage: ibemu COMMAND [OPTION]...
Simulated InfiniBand subnets for unmodified programs.

  run         run a command as if on a host of a subnet
  status      what a daemon serves, and to whom
  nodes       the nodes of a fabric
  links       its links
  link        cut or restore a link
  node        switch a node off or on
  device      pull a node's adapter out, or plug it in again
  host        show a node's devices to the whole machine, or no more
  counter     what a port has counted; make it show something else
  fault       lose, delay or corrupt packets of a link, let it flap, slow a node
  scenario    do all that at set times, from a file
  console     carry out the commands of ibsim
  capture     write down the packets that cross links, for tshark
  events      tell what happens, as it does
  export      write a topology, of a running fabric or of a file
  topology    generate, check or show a topology
  record      write a spec of a subnet from what tools print of it
  hca-probe   what the firmware of a real adapter says of itself
  doctor      what on this machine is in ibemu's way, and the cure

"ibemu COMMAND --help" tells more; "ibemu --version" prints the version.

Example, two hosts, cable to cable:
  ibemu run -- ibstat
)";

}  // namespace

// Only bugs and a lack of memory throw.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  CLI::App app("", "ibemu");
  ibemu::daemon::SetHelp(app, kHelp);
  app.set_version_flag("--version",
                       absl::StrCat("ibemu ", ibemu::daemon::Version()));
  ibemu::daemon::Action action;
  ibemu::daemon::AddRun(app, action);
  ibemu::daemon::AddStatus(app, action);
  ibemu::daemon::AddChanges(app, action);
  ibemu::daemon::AddConsole(app, action);
  ibemu::daemon::AddCounter(app, action);
  ibemu::daemon::AddFault(app, action);
  ibemu::daemon::AddCapture(app, action);
  ibemu::daemon::AddEvents(app, action);
  ibemu::daemon::AddScenario(app, action);
  ibemu::daemon::AddTopology(app, action);
  ibemu::daemon::AddRecord(app, action);
  ibemu::daemon::AddHcaProbe(app, action);
  ibemu::daemon::AddDoctor(app, action);
  app.add_subcommand("help")->callback([&action] {
    action = [] { return std::fputs(kHelp, stdout) < 0 ? 1 : 0; };
  });
  if (const auto status = ibemu::daemon::Parse(app, {argv + 1, argv + argc})) {
    return *status;
  }
  return action();
}
