// A command, as the command register passes it to the firmware, and its record
// for observers.
#ifndef IBEMU_HCA_MODEL_MLX4_CORE_COMMAND_H_
#define IBEMU_HCA_MODEL_MLX4_CORE_COMMAND_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hca/prm/mlx4_commands.h"

namespace ibemu::hca::model::mlx4 {

// A command as software posted it.
struct CommandRequest {
  prm::Opcode opcode{};
  uint8_t op_modifier = 0;
  uint32_t in_modifier = 0;
  uint64_t in_param = 0;   // the bus address of a mailbox, or a value
  uint64_t out_param = 0;  // the bus address of a mailbox
};

// The outcome of a command.
struct CommandReply {
  prm::CommandStatus status = prm::CommandStatus::kOk;
  uint64_t out_param = 0;  // a value
};

}  // namespace ibemu::hca::model::mlx4

namespace ibemu::hca::model {

// The record of a command that the adapter carried out or refused.
struct CommandRecord {
  prm::Opcode opcode{};
  uint8_t op_modifier = 0;
  uint32_t in_modifier = 0;
  uint64_t in_param = 0;  // as in the request
  bool by_event = false;  // completed by an event, not by polling
  prm::CommandStatus status = prm::CommandStatus::kOk;
  // The input mailbox as software wrote it, up to the end of the page.  Empty
  // if the command has none, or if its mailbox was not read.
  std::vector<std::byte> inbox = {};

  bool operator==(const CommandRecord&) const = default;
};

// An observer of commands: it is told of every finished command before software
// is.
class CommandObserver {
 public:
  virtual ~CommandObserver() = default;
  virtual void OnCommand(const CommandRecord& record) = 0;
};

}  // namespace ibemu::hca::model

#endif  // IBEMU_HCA_MODEL_MLX4_CORE_COMMAND_H_
