// ObjectCommands: the commands about memory regions, queues and queue pairs.
#ifndef IBEMU_HCA_MODEL_MLX4_FIRMWARE_OBJECT_COMMANDS_H_
#define IBEMU_HCA_MODEL_MLX4_FIRMWARE_OBJECT_COMMANDS_H_

#include "hca/model/mlx4/core/command.h"
#include "hca/model/mlx4/firmware/mailboxes.h"
#include "hca/model/mlx4/firmware/parts.h"
#include "hca/prm/mlx4_commands.h"
#include "hca/prm/mlx4_qp.h"

namespace ibemu::hca::model::mlx4 {

// The commands that pass an object from software to the adapter (SW2HW), change
// and query it, and pass it back (HW2SW).
class ObjectCommands {
 public:
  explicit ObjectCommands(const Parts& parts)
      : parts_(parts), mailboxes_(parts.core.host) {}

  // Carries out a command that its stage allows.  REQUIRES: it is of this
  // group.
  CommandReply Execute(const CommandRequest& request);

 private:
  using Status = prm::CommandStatus;

  Status WriteMtt(const CommandRequest& request);
  Status QueuePairCommand(const CommandRequest& request);
  // Reads the context of a queue pair.  For one that uses a shared receive
  // queue, the receive queue's own fields are not checked.
  Status TakeQpContext(const CommandRequest& request,
                       prm::QpContext& context) const;

  const Parts parts_;
  const Mailboxes mailboxes_;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_FIRMWARE_OBJECT_COMMANDS_H_
