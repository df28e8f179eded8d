// Firmware: the part of the adapter that carries out commands.
#ifndef IBEMU_HCA_MODEL_MLX4_FIRMWARE_FIRMWARE_H_
#define IBEMU_HCA_MODEL_MLX4_FIRMWARE_FIRMWARE_H_

#include "hca/model/mlx4/core/command.h"
#include "hca/model/mlx4/firmware/bring_up_commands.h"
#include "hca/model/mlx4/firmware/management_commands.h"
#include "hca/model/mlx4/firmware/object_commands.h"
#include "hca/model/mlx4/firmware/parts.h"
#include "hca/prm/mlx4_commands.h"

namespace ibemu::hca::model::mlx4 {

// The executor of commands: it refuses those that may not be carried out now,
// and gives the others to the group that they are of.
class Firmware {
 public:
  using Stage = BringUpCommands::Stage;

  explicit Firmware(const Parts& parts)
      : bring_up_(parts),
        management_(parts.core, parts.ports, parts.multicast),
        objects_(parts) {}

  // Carries out a command.  Refuses it if the stage, the alignment of its
  // mailboxes or its arguments don't allow it; a refused command changes
  // nothing.
  CommandReply Execute(const CommandRequest& request);

  // Returns true if the command has an input mailbox.  False for an unknown
  // command.
  static bool TakesInbox(prm::Opcode opcode);

  Stage stage() const { return bring_up_.stage(); }

  // Restores the state after power-on.
  void Reset() { bring_up_.Reset(); }

 private:
  using Status = prm::CommandStatus;
  struct Kind;
  static const Kind* KindOf(prm::Opcode opcode);

  Status Check(const Kind& kind, const CommandRequest& request) const;

  BringUpCommands bring_up_;
  ManagementCommands management_;
  ObjectCommands objects_;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_FIRMWARE_FIRMWARE_H_
