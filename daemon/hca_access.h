// A real adapter, as a command line names it.
#ifndef IBEMU_DAEMON_HCA_ACCESS_H_
#define IBEMU_DAEMON_HCA_ACCESS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hca/bus/pause.h"
#include "hca/bus/pci_address.h"
#include "hca/bus/pci_function.h"

namespace ibemu::daemon {

// pci=0000:3b:00.0 access=sysfs
struct HcaOptions {
  hca::PciAddress address;
  bool by_sysfs = false;  // else VFIO

  // Errors: InvalidArgument.
  static absl::StatusOr<HcaOptions> Parse(
      const std::vector<std::string>& words);
};

// Errors: those of PciSysfs, VfioPci and SysfsPci, and CheckDevice()'s.
absl::StatusOr<std::unique_ptr<hca::PciFunction>> OpenHca(
    const HcaOptions& options);

// By sleeping.
hca::Pause SleepingPause();

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_HCA_ACCESS_H_
