// A command, from the register to whoever carries it out, and what is kept of
// it.
#ifndef IBEMU_HCA_MODEL_MLX4_CORE_COMMAND_H_
#define IBEMU_HCA_MODEL_MLX4_CORE_COMMAND_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hca/prm/mlx4_commands.h"

namespace ibemu::hca::model::mlx4 {

struct CommandRequest {
  prm::Opcode opcode{};
  uint8_t op_modifier = 0;
  uint32_t in_modifier = 0;
  uint64_t in_param = 0;   // a mailbox's bus address, or a value
  uint64_t out_param = 0;  // a mailbox's bus address
};

struct CommandReply {
  prm::CommandStatus status = prm::CommandStatus::kOk;
  uint64_t out_param = 0;  // a value
};

}  // namespace ibemu::hca::model::mlx4

namespace ibemu::hca::model {

// One command that the adapter carried out or refused.
struct CommandRecord {
  prm::Opcode opcode{};
  uint8_t op_modifier = 0;
  uint32_t in_modifier = 0;
  uint64_t in_param = 0;  // as in the request
  bool by_event = false;  // completed by an event, not by polling
  prm::CommandStatus status = prm::CommandStatus::kOk;
  // What software had in its input mailbox, up to the page's end; empty for a
  // command without one, or whose mailbox was not read.
  std::vector<std::byte> inbox = {};

  bool operator==(const CommandRecord&) const = default;
};

// Is told of every command when it is done, before software is.
class CommandObserver {
 public:
  virtual ~CommandObserver() = default;
  virtual void OnCommand(const CommandRecord& record) = 0;
};

}  // namespace ibemu::hca::model

#endif  // IBEMU_HCA_MODEL_MLX4_CORE_COMMAND_H_
