// The families of adapters that ibemu drives, and the choice among them.
#ifndef IBEMU_HCA_FAMILIES_H_
#define IBEMU_HCA_FAMILIES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/timers.h"
#include "hca/bus/pci_function.h"
#include "hca/driver/driven_adapter.h"

namespace ibemu::hca {

// Checks by its PCI IDs that ibemu drives a device.  The device itself is not
// touched.
//
// Errors: FailedPrecondition (ENODEV) if no family drives it; the message names
// the adapters that ibemu drives.
absl::Status CheckDevice(uint16_t vendor, uint16_t device);

// Takes an adapter over and brings it and its ports up, which takes some
// seconds.  `function` and `timers` must outlive the device.
//
// Errors: those of CheckDevice() and of the family's driver.
absl::StatusOr<std::unique_ptr<DrivenAdapter>> StartDevice(
    PciFunction& function, Timers& timers, DeviceOptions options);

// A function that prints text; each call passes whole lines.
using Print = std::function<void(std::string_view)>;

// Makes first contact with an adapter: resets it, asks its firmware what there
// is, and releases it in the state after the reset.  The answers are printed in
// readable form as they arrive, so those of an adapter that is then refused are
// printed, too; their bytes are printed last.
//
// Errors: those of CheckDevice() and of the family's driver.
absl::Status ProbeDevice(PciFunction& function, Timers& timers,
                         DeviceOptions options, const Print& print);

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_FAMILIES_H_
