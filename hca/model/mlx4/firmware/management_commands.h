// ManagementCommands: the commands about ports, MADs and multicast.
#ifndef IBEMU_HCA_MODEL_MLX4_FIRMWARE_MANAGEMENT_COMMANDS_H_
#define IBEMU_HCA_MODEL_MLX4_FIRMWARE_MANAGEMENT_COMMANDS_H_

#include <optional>

#include "hca/model/mlx4/core/command.h"
#include "hca/model/mlx4/core/core.h"
#include "hca/model/mlx4/core/model_mcg_table.h"
#include "hca/model/mlx4/firmware/mailboxes.h"
#include "hca/model/mlx4/queues/ports.h"
#include "hca/prm/mlx4_commands.h"

namespace ibemu::hca::model::mlx4 {

// The commands by which the driver manages the ports and speaks with their
// agents.
class ManagementCommands {
 public:
  // All arguments must outlive this object.
  ManagementCommands(Core& core, Ports& ports, ModelMcgTable& multicast)
      : core_(core),
        ports_(ports),
        multicast_(multicast),
        mailboxes_(core.host) {}

  // Carries out a command that its stage allows.  Returns none for commands of
  // other groups.
  std::optional<CommandReply> Execute(const CommandRequest& request);

 private:
  using Status = prm::CommandStatus;

  Status QueryPort(const CommandRequest& request);
  Status StaticConfiguration(const CommandRequest& request);
  Status Port(const CommandRequest& request);
  Status MadIfc(const CommandRequest& request);
  Status MadDemux(const CommandRequest& request);
  Status Mcg(const CommandRequest& request);
  CommandReply MgidHash(const CommandRequest& request);
  Status DiagnosticReport(const CommandRequest& request);

  Core& core_;
  Ports& ports_;
  ModelMcgTable& multicast_;
  const Mailboxes mailboxes_;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_FIRMWARE_MANAGEMENT_COMMANDS_H_
