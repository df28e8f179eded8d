// CommandChannel: the path by which a driver gives commands to its adapter's
// firmware.
#ifndef IBEMU_HCA_BUS_COMMAND_CHANNEL_H_
#define IBEMU_HCA_BUS_COMMAND_CHANNEL_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"

namespace ibemu::hca {

// A command of the adapter's firmware, with its input and the place for its
// output.
struct FirmwareCommand {
  uint16_t opcode = 0;
  uint8_t op_modifier = 0;
  uint32_t in_modifier = 0;
  // The input: a mailbox, or, if that is empty, 64 bits.
  std::span<const std::byte> in{};
  uint64_t in_parameter = 0;
  // The output mailbox; empty if the command has no output, or only the 64 bits
  // of CommandResult::out_parameter.
  std::span<std::byte> out{};
};

// A CommandResult is the firmware's answer to a command, but for the output
// mailbox, which is FirmwareCommand::out.
struct CommandResult {
  uint8_t status = 0;  // the firmware's; 0: success
  uint64_t out_parameter = 0;
};

// The interface of a channel that executes one command at a time.  A command
// has ended when Execute() returns.
class CommandChannel {
 public:
  virtual ~CommandChannel() = default;

  // Executes `command`.  The firmware's status is a result, not an error, even
  // if it is a refusal.
  //
  // Errors: InvalidArgument if a mailbox is too long; DeadlineExceeded (EIO) if
  // the firmware does not answer; Unavailable if the adapter is gone, or did
  // not answer an earlier command.
  virtual absl::StatusOr<CommandResult> Execute(
      const FirmwareCommand& command) = 0;
};

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_COMMAND_CHANNEL_H_
