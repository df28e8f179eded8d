// MadIfc: the way for MADs to the agents that the adapter's firmware runs: SMA,
// PMA and others.
#ifndef IBEMU_HCA_MLX4_MAD_MAD_IFC_H_
#define IBEMU_HCA_MLX4_MAD_MAD_IFC_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "hca/mlx4/core/firmware_commands.h"
#include "mad/address.h"
#include "mad/port.h"
#include "mad/wire/attribute_id.h"
#include "mad/wire/smp.h"
#include "wire/layout.h"
#include "wire/types.h"

namespace ibemu::hca::mlx4 {

// Returns whether the firmware's agents answer such a MAD.  They know subnet
// management (but no SMInfo), performance management, two vendors' classes and
// congestion control (hw/mlx4/mad.c, mlx4_ib_process_mad).
bool IsForFirmware(const mad::MadBytes& request);

// A MadIfc gives MADs to those agents by the command MAD_IFC.
class MadIfc {
 public:
  // `commands` must outlive it.
  explicit MadIfc(FirmwareCommands& commands) : commands_(commands) {}

  // Processes a MAD that came to `port`, or that one of the port's own agents
  // sent to it, as mad::Port::ProcessLocal() does.  `dgid`: the destination GID
  // in the request's GRH, if it has one.
  mad::LocalVerdict Process(int port, const mad::Arrival& request,
                            const wire::Gid& dgid, mad::MadBytes& reply);

  // Gets an attribute of subnet management; keys are not checked.
  //
  // Errors: those of CommandChannel::Execute() and StatusOf(); Internal if the
  // agent refuses.
  template <wire::Structure T>
  absl::StatusOr<T> Get(int port, uint32_t modifier = 0) {
    mad::Smp smp;
    IBEMU_RETURN_IF_ERROR(GetSmp(port, T::kId, modifier, smp));
    return wire::Decode<T>(smp.data);
  }

 private:
  absl::Status GetSmp(int port, mad::AttributeId id, uint32_t modifier,
                      mad::Smp& answer);

  FirmwareCommands& commands_;
  uint64_t last_tid_ = 0;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_MAD_MAD_IFC_H_
