#include "hca/mlx4/presence.h"

#include "hca/bus/pci_config.h"

namespace ibemu::hca::mlx4 {

absl::Status GoneFromBus() {
  return absl::UnavailableError(
      "the adapter does not answer on the bus any more: its registers read as "
      "all ones");
}

absl::Status CheckPresence(PciFunction& function) {
  const auto vendor =
      static_cast<uint16_t>(function.ReadConfig(pci_config::kVendor, 2));
  return vendor == pci_config::kNoVendor ? GoneFromBus() : absl::OkStatus();
}

}  // namespace ibemu::hca::mlx4
