// BringUpCommands: the commands from power-on to INIT_HCA, and back.
#ifndef IBEMU_HCA_MODEL_MLX4_FIRMWARE_BRING_UP_COMMANDS_H_
#define IBEMU_HCA_MODEL_MLX4_FIRMWARE_BRING_UP_COMMANDS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hca/model/mlx4/core/command.h"
#include "hca/model/mlx4/firmware/mailboxes.h"
#include "hca/model/mlx4/firmware/parts.h"
#include "hca/prm/mlx4_commands.h"
#include "hca/prm/mlx4_hca.h"

namespace ibemu::hca::model::mlx4 {

// The stage of bring-up, with the memory that the host lends to firmware.
class BringUpCommands {
 public:
  enum class Stage {
    kReset,    // nothing runs but the boot loader
    kRunning,  // RUN_FW
    kUp,       // INIT_HCA
  };

  explicit BringUpCommands(const Parts& parts)
      : parts_(parts), mailboxes_(parts.core.host) {}

  // Carries out a command that its stage allows.  Returns none for commands of
  // other groups.
  std::optional<CommandReply> Execute(const CommandRequest& request);

  Stage stage() const { return stage_; }

  // Restores the state after power-on.
  void Reset();

 private:
  using Status = prm::CommandStatus;
  using Chunks = std::vector<prm::VirtualPhysicalMapping>;

  Status MapFirmwareArea(const CommandRequest& request);
  Status RunFirmware();
  Status UnmapFirmwareArea();
  Status MapAuxiliary(const CommandRequest& request);
  Status UnmapAuxiliary();
  Status MapIcm(const CommandRequest& request);
  Status UnmapIcm(const CommandRequest& request);
  Status InitHca(const CommandRequest& request);
  Status CheckTables(const prm::HcaTables& tables) const;
  void CloseHca();
  CommandReply QueryHca(const CommandRequest& request) const;
  CommandReply SetIcmSize(const CommandRequest& request);
  // Appends the chunks in a mailbox of MAP_FA, MAP_ICM_AUX or MAP_ICM to
  // `chunks`, all or none.  Returns INTERNAL_ERR if one can't be reached.
  Status ReadChunks(const CommandRequest& request, Chunks& chunks) const;
  static uint64_t PagesOf(const Chunks& chunks);
  // Returns true if both ends of each chunk that the host lends, or lent, can
  // be reached.  There may be a million pages between them, none of which the
  // model has a use for.
  bool CanReach(const Chunks& chunks) const;

  const Parts parts_;
  const Mailboxes mailboxes_;
  Stage stage_ = Stage::kReset;
  Chunks firmware_area_, auxiliary_area_;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_FIRMWARE_BRING_UP_COMMANDS_H_
