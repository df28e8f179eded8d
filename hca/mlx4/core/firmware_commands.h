// FirmwareCommands: the commands of the mlx4 family, with the PRM's structures
// as arguments.
#ifndef IBEMU_HCA_MLX4_CORE_FIRMWARE_COMMANDS_H_
#define IBEMU_HCA_MLX4_CORE_FIRMWARE_COMMANDS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "hca/bus/command_channel.h"
#include "hca/prm/mlx4_commands.h"
#include "wire/layout.h"

namespace ibemu::hca::mlx4 {

// The modifiers of a command: the input modifier and the opcode modifier.
struct Modifiers {
  uint32_t in = 0;
  uint8_t op = 0;
};

// Returns the firmware's status as an absl::Status; OK if the command
// succeeded.
//
// Errors: Unimplemented for BAD_OP, Internal for all others (EIO both).
absl::Status StatusOf(prm::Opcode opcode, uint8_t firmware_status);
// Returns whether `status` is a refusal of StatusOf(): the firmware has not
// done what the command says.
bool IsRefusal(const absl::Status& status);

// A FirmwareCommands is a typed interface to a CommandChannel.
//
// Errors of all commands: those of CommandChannel::Execute() and StatusOf().
class FirmwareCommands {
 public:
  // `channel` must outlive it.
  explicit FirmwareCommands(CommandChannel& channel) : channel_(channel) {}

  // Runs a command without a mailbox and returns its output parameter.
  absl::StatusOr<uint64_t> Run(prm::Opcode opcode, Modifiers modifiers = {},
                               uint64_t in_parameter = 0);

  // Runs a command with an input mailbox.
  absl::Status Send(prm::Opcode opcode, std::span<const std::byte> in,
                    Modifiers modifiers = {});
  template <wire::Structure T>
  absl::Status Send(prm::Opcode opcode, const T& in, Modifiers modifiers = {}) {
    std::array<std::byte, wire::kBytes<T>> bytes;
    wire::Encode(in, bytes);
    return Send(opcode, std::span<const std::byte>(bytes), modifiers);
  }

  // Runs a command with an output mailbox.
  absl::Status Ask(prm::Opcode opcode, std::span<std::byte> out,
                   Modifiers modifiers = {});
  template <wire::Structure T>
  absl::StatusOr<T> Ask(prm::Opcode opcode, Modifiers modifiers = {}) {
    std::array<std::byte, wire::kBytes<T>> bytes{};
    IBEMU_RETURN_IF_ERROR(Ask(opcode, bytes, modifiers));
    return wire::Decode<T>(bytes);
  }

  CommandChannel& channel() { return channel_; }

 private:
  CommandChannel& channel_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_FIRMWARE_COMMANDS_H_
