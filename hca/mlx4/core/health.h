// Health: a check whether the adapter and its firmware still work.
#ifndef IBEMU_HCA_MLX4_CORE_HEALTH_H_
#define IBEMU_HCA_MLX4_CORE_HEALTH_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "hca/bus/pci_function.h"
#include "hca/prm/mlx4_query.h"

namespace ibemu::hca::mlx4 {

// A watch on the buffer of catastrophic errors, which firmware fills when it
// can't go on (mlx4/catas.c), and on configuration space, which tells whether
// the adapter is there and reaches memory.
class Health {
 public:
  // The interval between checks.
  static constexpr absl::Duration kPeriod = absl::Seconds(1);

  // `function` must be bus master from now on, and outlive the object.
  //
  // Errors: NotFound if the buffer is in a BAR that is not there;
  // FailedPrecondition if it is outside of its BAR, or the BAR's number is
  // invalid.
  static absl::StatusOr<Health> Create(PciFunction& function,
                                       const prm::QueryFw& fw);

  // Returns Unavailable once the adapter has died: with the contents of the
  // buffer, or because the adapter is gone from the bus or no longer bus
  // master.
  absl::Status Check() const;

 private:
  Health(PciFunction& function, Bar& bar, size_t offset, uint32_t words)
      : function_(&function), bar_(&bar), offset_(offset), words_(words) {}

  PciFunction* function_;
  Bar* bar_;
  size_t offset_;
  uint32_t words_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_HEALTH_H_
