// ibemu-hca-model: runs a virtual machine with a modelled adapter.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/standard_output.h"
#include "base/version.h"
#include "cli/command_line/command_line.h"
#include "cli/hca_model/hca_model_run.h"

namespace {

using ibemu::cli::kUsageError;

constexpr char kHelp[] =
    R"(Usage: ibemu-hca-model [OPTION]... --host=NODE -- qemu-system-x86_64 ARG...
Give a virtual machine a modelled ConnectX-3 that is a node of the subnet.

  --host=NODE       whose adapter the machine has: a description, a name of the
                    topology file or a GUID; nobody else may have it
  --fabric=NAME     join a running daemon (a name, or the path of its socket)
                    instead of starting a private one
  --topology=SPEC   a file (ibnetdiscover format) or a generator; default
                    back-to-back
  --sm=none|static|builtin
                    who configures the subnet (default: builtin)
  --seed=N          seed of losses and delays (default: drawn)
  --statistics      print at the end what the adapter had to do
  --trace=FILE      write down the commands that the guest's driver gives it
  --version         print the version

QEMU is that of Debian 12 (7.2), with one processor (-smp 1); KVM is not needed.
What the adapter needs is added to its arguments.  The guest's kernel drives it
with mlx4_core and mlx4_ib.  SIGUSR1 lets the adapter fail with an internal
error, which only a reset ends; other signals are passed on to QEMU.  The exit
status is QEMU's; 125 to 127 as of env(1).

Example, a guest on the second host of a running fabric:
  ibemu-hca-model --fabric=default --host=node-2 -- qemu-system-x86_64 \
    -smp 1 -m 1G -nodefaults -nographic -serial mon:stdio -vga none \
    -kernel vmlinuz -initrd initrd.img -append console=ttyS0
)";

// Returns what is wrong with the options; empty if they make sense together.
std::string Mistake(const ibemu::cli::HcaModelOptions& options) {
  if (options.host.empty()) {
    return "--host=NODE is missing: whose adapter the machine gets";
  }
  if (options.qemu.empty()) return "QEMU's command is missing, after a --";
  if (options.fabric && (options.topology || options.sm || options.seed)) {
    return "--fabric joins a running daemon: give --topology, --sm and --seed "
           "to that ibemud instead";
  }
  return "";
}

int Main(std::vector<std::string> arguments) {
  ibemu::cli::HcaModelOptions options;
  CLI::App app("", "ibemu-hca-model");
  ibemu::cli::SetHelp(app, kHelp);
  app.set_version_flag("-v,--version",
                       absl::StrCat("ibemu-hca-model ", ibemu::Version()));
  app.add_option("--fabric", options.fabric);
  app.add_option("--topology", options.topology);
  app.add_option("--sm", options.sm);
  app.add_option("--seed", options.seed);
  app.add_option("--host", options.host);
  app.add_flag("--statistics", options.statistics);
  app.add_option("--trace", options.trace);
  // All words after the first "--" are QEMU's.
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes != arguments.end()) {
    options.qemu.assign(dashes + 1, arguments.end());
    arguments.erase(dashes, arguments.end());
  }
  if (const auto status = ibemu::cli::Parse(app, std::move(arguments))) {
    return *status;
  }
  if (const std::string mistake = Mistake(options); !mistake.empty()) {
    std::fprintf(stderr, "ibemu-hca-model: %s\n", mistake.c_str());
    return kUsageError;
  }
  return ibemu::cli::RunHcaModel(options);
}

}  // namespace

// Only bugs and a lack of memory cause exceptions.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  return ibemu::FinishOutput("ibemu-hca-model", Main({argv + 1, argv + argc}));
}
