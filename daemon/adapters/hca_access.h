// A real adapter, as a command line names it.
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

// pci=0000:3b:00.0 access=sysfs
struct HcaOptions {
  hca::PciAddress address;
  bool by_sysfs = false;  // else VFIO

  // Errors: InvalidArgument.
  static absl::StatusOr<HcaOptions> Parse(
      const std::vector<std::string>& words);
};

// model=lab/host-1: no real adapter but a modelled one, in this process, that
// is a node of the fabric that another daemon serves.
struct HcaModelChoice {
  std::string fabric;  // a name, or the path of a socket
  std::string node;    // a description, a name of the topology file or a GUID

  // What follows "model=".  In a path, the last slash comes before the node;
  // after a name, the first one.
  //
  // Errors: InvalidArgument.
  static absl::StatusOr<HcaModelChoice> Parse(std::string_view value);
};

// One adapter of --backend=hca.
using HcaChoice = std::variant<HcaOptions, HcaModelChoice>;

// pci=0000:3b:00.0 pci=0000:5e:00.0 access=sysfs: an access= belongs to the
// pci= before it.
//
// Errors: InvalidArgument, also when there is none or one is named twice.
absl::StatusOr<std::vector<HcaChoice>> ParseHcaChoices(
    const std::vector<std::string>& words);

// "0000:3b:00.0", "lab/host-1".
std::string HcaName(const HcaChoice& choice);

// Errors: those of PciSysfs, VfioPci and SysfsPci, and CheckDevice()'s.
absl::StatusOr<std::unique_ptr<hca::PciFunction>> OpenHca(
    const HcaOptions& options, const hca::PciSysfs& sysfs = hca::PciSysfs());

// By sleeping.
hca::Pause SleepingPause();

// The same as `pause`, which tells `alive` meanwhile, after kHeartbeat of
// waiting: a watchdog must not take a wait for hardware for a program that
// hangs.
inline constexpr absl::Duration kHeartbeat = absl::Seconds(1);
hca::Pause WithHeartbeat(hca::Pause pause, std::function<void()> alive);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_ADAPTERS_HCA_ACCESS_H_
