#include "hca/families.h"

#include <array>
#include <utility>

#include "base/status_macros.h"
#include "hca/bus/pci_config.h"
#include "hca/mlx4/core/mlx4_adapter.h"
#include "hca/mlx4/mlx4_device.h"
#include "hca/mlx4/probe.h"

namespace ibemu::hca {
namespace {

struct Family {
  absl::Status (*check)(uint16_t vendor, uint16_t device);
  absl::StatusOr<std::unique_ptr<DrivenAdapter>> (*start)(
      PciFunction& function, Timers& timers, DeviceOptions options);
  absl::Status (*probe)(PciFunction& function, Timers& timers,
                        DeviceOptions options, const Print& print);
};

absl::StatusOr<std::unique_ptr<DrivenAdapter>> StartMlx4(
    PciFunction& function, Timers& timers, DeviceOptions options) {
  return mlx4::Mlx4Device::Start(function, timers, std::move(options));
}

constexpr std::array kFamilies = {
    Family{mlx4::CheckDevice, StartMlx4, mlx4::Probe}};

// Returns the first family that drives the device, or the refusal of the last
// one.
absl::StatusOr<const Family*> FamilyOf(uint16_t vendor, uint16_t device) {
  absl::Status refusal;
  for (const Family& family : kFamilies) {
    refusal = family.check(vendor, device);
    if (refusal.ok()) return &family;
  }
  return refusal;
}

absl::StatusOr<const Family*> FamilyOf(PciFunction& function) {
  return FamilyOf(
      static_cast<uint16_t>(function.ReadConfig(pci_config::kVendor, 2)),
      static_cast<uint16_t>(function.ReadConfig(pci_config::kDevice, 2)));
}

}  // namespace

absl::Status CheckDevice(uint16_t vendor, uint16_t device) {
  return FamilyOf(vendor, device).status();
}

absl::StatusOr<std::unique_ptr<DrivenAdapter>> StartDevice(
    PciFunction& function, Timers& timers, DeviceOptions options) {
  IBEMU_ASSIGN_OR_RETURN(const Family* const family, FamilyOf(function));
  return family->start(function, timers, std::move(options));
}

absl::Status ProbeDevice(PciFunction& function, Timers& timers,
                         DeviceOptions options, const Print& print) {
  IBEMU_ASSIGN_OR_RETURN(const Family* const family, FamilyOf(function));
  return family->probe(function, timers, std::move(options), print);
}

}  // namespace ibemu::hca
