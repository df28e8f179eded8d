#include "hca/mlx4/core/presence.h"

#include "hca/bus/pci_config.h"

namespace ibemu::hca::mlx4 {

absl::Status GoneFromBus() {
  return absl::UnavailableError(
      "the adapter does not answer on the bus any more: its registers read as "
      "all ones");
}

// The vendor ID is not what is read, because vfio-pci answers that itself
// (drivers/vfio/pci/vfio_pci_config.c), whether the adapter is there or not.
absl::Status CheckPresence(PciFunction& function) {
  return function.ReadConfig(pci_config::kRevision, 4) == kAllOnes
             ? GoneFromBus()
             : absl::OkStatus();
}

}  // namespace ibemu::hca::mlx4
