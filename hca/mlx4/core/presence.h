// The check whether an mlx4 adapter is still on the bus.
#ifndef IBEMU_HCA_MLX4_CORE_PRESENCE_H_
#define IBEMU_HCA_MLX4_CORE_PRESENCE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "hca/bus/pci_function.h"

namespace ibemu::hca::mlx4 {

// The value of each register of an adapter that was pulled out, has lost its
// power or whose link is down.
inline constexpr uint32_t kAllOnes = ~uint32_t{0};

// Returns Unavailable, with a message that the adapter is gone.
absl::Status GoneFromBus();

// Checks that the adapter answers on the bus.  Errors: GoneFromBus() if
// configuration space reads as all ones.
absl::Status CheckPresence(PciFunction& function);

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_PRESENCE_H_
