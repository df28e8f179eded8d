// How a driver gives commands to its adapter's firmware.
#ifndef IBEMU_HCA_BUS_COMMAND_CHANNEL_H_
#define IBEMU_HCA_BUS_COMMAND_CHANNEL_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"

namespace ibemu::hca {

struct Command {
  uint16_t opcode = 0;
  uint8_t op_modifier = 0;
  uint32_t in_modifier = 0;
  // What goes with it: a mailbox, or when that is empty 64 bits.
  std::span<const std::byte> in{};
  uint64_t in_parameter = 0;
  // Where the answer goes: none, a mailbox, or the 64 bits of the result.
  std::span<std::byte> out{};
};

struct CommandResult {
  uint8_t status = 0;  // the firmware's; 0: done
  uint64_t out_parameter = 0;
};

// One command at a time, each carried out when Execute() returns.
class CommandChannel {
 public:
  virtual ~CommandChannel() = default;

  // What the firmware says to it is a result, whatever it says.
  //
  // Errors: InvalidArgument, a mailbox is too long; DeadlineExceeded (EIO), the
  // firmware is silent; Unavailable, the adapter is gone, or was silent before.
  virtual absl::StatusOr<CommandResult> Execute(const Command& command) = 0;
};

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_COMMAND_CHANNEL_H_
