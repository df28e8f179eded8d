// The families of adapters that there is a driver of, and which one is meant.
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
#include "hca/driver/device.h"

namespace ibemu::hca {

// Before anything of it is touched, by its ids.
//
// Errors: FailedPrecondition (ENODEV), no family has it: the message names what
// ibemu drives.
absl::Status CheckDevice(uint16_t vendor, uint16_t device);

// Takes an adapter over, brings it and its ports up.  It takes some seconds.
// `function` and `timers` must outlive it.
//
// Errors: CheckDevice()'s; those of the family's driver.
absl::StatusOr<std::unique_ptr<Device>> StartDevice(PciFunction& function,
                                                    Timers& timers,
                                                    DeviceOptions options);

// Whole lines, in some pieces.
using Print = std::function<void(std::string_view)>;

// First contact: resets the adapter, asks its firmware what there is, and gives
// it up again, as it was after the reset.  What it says is printed for people
// as it comes, so also that of an adapter that is refused; the bytes of it come
// last.
//
// Errors: CheckDevice()'s; those of the family's driver.
absl::Status ProbeDevice(PciFunction& function, Timers& timers,
                         DeviceOptions options, const Print& print);

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_FAMILIES_H_
