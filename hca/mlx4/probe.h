// First contact with an adapter.
#ifndef IBEMU_HCA_MLX4_PROBE_H_
#define IBEMU_HCA_MLX4_PROBE_H_

#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "base/timers.h"
#include "hca/bus/pci_function.h"
#include "hca/driver/driven_adapter.h"

namespace ibemu::hca::mlx4 {

// Implements hca::ProbeDevice() for this family.
//
// Errors: those of Mlx4Adapter::Inquire().
absl::Status Probe(PciFunction& function, Timers& timers, DeviceOptions options,
                   const std::function<void(std::string_view)>& print);

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_PROBE_H_
