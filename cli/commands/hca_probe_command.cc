#include "cli/commands/hca_probe_command.h"

#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/standard_output.h"
#include "base/status_macros.h"
#include "daemon/adapters/hca_access.h"
#include "daemon/adapters/hca_probe.h"
#include "loop/loop.h"
#include "loop/signals.h"

namespace ibemu::cli {
namespace {

constexpr char kProbeHelp[] =
    R"(Usage: ibemu hca-probe pci=DDDD:BB:DD.F [access=vfio|sysfs]
Reset a real adapter (ConnectX to ConnectX-3), print what its firmware says of
itself (first for people, then in bytes), and give it up again.  No port is
touched.  A device that ibemu does not know is refused as it is; what else ibemu
does not drive, after what it said.
This has never been run on hardware: please tell what it prints.

  pci=DDDD:BB:DD.F  which adapter ("lspci -D -d 15b3:" lists Mellanox's)
  access=vfio       through the driver vfio-pci, behind an IOMMU (default)
  access=sysfs      through the files in /sys: needs root, huge pages, and no
                    IOMMU; then nothing keeps the adapter from any memory
)";

absl::Status Probe(const std::vector<std::string>& words) {
  IBEMU_ASSIGN_OR_RETURN(const daemon::HcaOptions options,
                         daemon::HcaOptions::Parse(words));
  BlockSignalsForAdapters(kEndingSignals);
  IBEMU_ASSIGN_OR_RETURN(const std::unique_ptr<Loop> loop, MakeLoop());
  IBEMU_ASSIGN_OR_RETURN(const std::unique_ptr<hca::PciFunction> function,
                         daemon::OpenHca(options));
  return daemon::ProbeHca(*function, options.address.Text(), *loop,
                          daemon::SleepingPause(), PrintNow);
}

}  // namespace

void AddHcaProbe(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("hca-probe");
  SetHelp(*command, kProbeHelp);
  const auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("parameters", *words);
  OnUse(*command, action, "hca-probe", [words] { return Probe(*words); });
}

}  // namespace ibemu::cli
