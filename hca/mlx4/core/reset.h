// The reset and takeover of an mlx4 adapter, in whatever state its last owner
// left it.
#ifndef IBEMU_HCA_MLX4_CORE_RESET_H_
#define IBEMU_HCA_MLX4_CORE_RESET_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/timers.h"
#include "hca/bus/pause.h"
#include "hca/bus/pci_function.h"

namespace ibemu::hca::mlx4 {

// Resets the adapter's firmware and restores what configuration space loses by
// that.  Afterwards the adapter answers to its BARs and is no bus master
// (mlx4/reset.c).
//
// Errors: FailedPrecondition if somebody else is resetting it; Unavailable if
// it is no longer on the bus (which is reported at once), or does not come
// back.
absl::Status ResetAdapter(PciFunction& function, Bar& control, Timers& timers,
                          const Pause& pause);

// The way in which the adapter's last owner ended.
enum class LastOwner { kLeft, kWasKilled };

// Resets the adapter and becomes its owner, until ReleaseAdapter().  An owner
// that was killed never gave the semaphore back, and its adapter may still know
// memory that is no longer the owner's; the reset ends both.
//
// Errors: those of ResetAdapter(); FailedPrecondition if the adapter has
// another owner, who survived the reset.
absl::StatusOr<LastOwner> TakeAdapter(PciFunction& function, Bar& control,
                                      Timers& timers, const Pause& pause);

void ReleaseAdapter(Bar& control);

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_RESET_H_
