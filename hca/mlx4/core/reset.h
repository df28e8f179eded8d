// Takes an mlx4 adapter over, whatever its last owner left.
#ifndef IBEMU_HCA_MLX4_CORE_RESET_H_
#define IBEMU_HCA_MLX4_CORE_RESET_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/timers.h"
#include "hca/bus/pause.h"
#include "hca/bus/pci_function.h"

namespace ibemu::hca::mlx4 {

// Resets the adapter's firmware and restores what configuration space loses by
// that; afterwards it answers to its BARs and is no bus master (mlx4/reset.c).
//
// Errors: FailedPrecondition, somebody else resets it; Unavailable, it is not
// on the bus any more (which it says at once), or does not come back.
absl::Status ResetAdapter(PciFunction& function, Bar& control, Timers& timers,
                          const Pause& pause);

enum class LastOwner { kLeft, kWasKilled };

// Resets the adapter and becomes its owner, until ReleaseAdapter().  An owner
// that was killed never gave the semaphore back, and its adapter may still know
// memory that is not ours: the reset ends both.
//
// Errors: ResetAdapter()'s; FailedPrecondition, it has another owner, who
// survived the reset.
absl::StatusOr<LastOwner> TakeAdapter(PciFunction& function, Bar& control,
                                      Timers& timers, const Pause& pause);

void ReleaseAdapter(Bar& control);

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_RESET_H_
