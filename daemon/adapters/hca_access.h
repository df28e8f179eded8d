// The adapters of --backend=hca, as a command line names them, and the access
// to them.
#ifndef IBEMU_DAEMON_ADAPTERS_HCA_ACCESS_H_
#define IBEMU_DAEMON_ADAPTERS_HCA_ACCESS_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "hca/bus/pause.h"
#include "hca/bus/pci_address.h"
#include "hca/bus/pci_function.h"
#include "hca/bus/pci_sysfs.h"

namespace ibemu::daemon {

// A real adapter: "pci=0000:3b:00.0 access=sysfs".
struct HcaOptions {
  hca::PciAddress address;
  bool by_sysfs = false;  // if false, by VFIO

  // Errors: InvalidArgument.
  static absl::StatusOr<HcaOptions> Parse(
      const std::vector<std::string>& words);
};

// A modelled adapter in this process, in place of a real one:
// "model=lab/host-1".  It is a node of the fabric that another daemon serves.
struct HcaModelChoice {
  std::string fabric;  // a name, or the path of a socket
  std::string node;    // a description, a name of the topology file or a GUID

  // Parses the text after "model=".  If it is a path, the last slash separates
  // the node; if it begins with a name, the first one does.
  //
  // Errors: InvalidArgument.
  static absl::StatusOr<HcaModelChoice> Parse(std::string_view value);
};

// One adapter of --backend=hca.
using HcaChoice = std::variant<HcaOptions, HcaModelChoice>;

// Parses "pci=0000:3b:00.0 pci=0000:5e:00.0 access=sysfs".  An access= belongs
// to the pci= before it.
//
// Errors: InvalidArgument, also if there is no adapter, or one is named twice.
absl::StatusOr<std::vector<HcaChoice>> ParseHcaChoices(
    const std::vector<std::string>& words);

// The words that ParseHcaChoices() makes `choices` of.
std::vector<std::string> HcaWords(const std::vector<HcaChoice>& choices);

// Returns the name of an adapter: "0000:3b:00.0" or "lab/host-1".
std::string HcaName(const HcaChoice& choice);

// Opens a real adapter.
//
// Errors: those of PciSysfs, VfioPci and SysfsPci, and those of CheckDevice().
absl::StatusOr<std::unique_ptr<hca::PciFunction>> OpenHca(
    const HcaOptions& options, const hca::PciSysfs& sysfs = hca::PciSysfs());

// Returns a Pause that sleeps.
hca::Pause SleepingPause();

// Returns a Pause that behaves as `pause`, and calls `alive` after each
// kHeartbeat of waiting.  A watchdog must not take a wait for hardware for a
// program that hangs.
inline constexpr absl::Duration kHeartbeat = absl::Seconds(1);
hca::Pause WithHeartbeat(hca::Pause pause, std::function<void()> alive);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_ADAPTERS_HCA_ACCESS_H_
