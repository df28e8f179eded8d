// Commands of the mlx4 family, with their tables for arguments.
#ifndef IBEMU_HCA_MLX4_CORE_COMMANDS_H_
#define IBEMU_HCA_MLX4_CORE_COMMANDS_H_

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

// What a command is besides its mailboxes.
struct Modifiers {
  uint32_t in = 0;
  uint8_t op = 0;
};

// The firmware's refusal as a status; OK when there is none.  Errors:
// Unimplemented for BAD_OP, Internal for all others (EIO both).
absl::Status StatusOf(prm::Opcode opcode, uint8_t firmware_status);
// Whether that is it: the firmware has not done what the command says.
bool IsRefusal(const absl::Status& status);

// Errors of all: CommandChannel::Execute()'s and StatusOf()'s.
class Commands {
 public:
  // `channel` must outlive it.
  explicit Commands(CommandChannel& channel) : channel_(channel) {}

  // Without a mailbox.  The result is the output parameter.
  absl::StatusOr<uint64_t> Run(prm::Opcode opcode, Modifiers modifiers = {},
                               uint64_t in_parameter = 0);

  absl::Status Send(prm::Opcode opcode, std::span<const std::byte> in,
                    Modifiers modifiers = {});
  template <wire::Structure T>
  absl::Status Send(prm::Opcode opcode, const T& in, Modifiers modifiers = {}) {
    std::array<std::byte, wire::kBytes<T>> bytes;
    wire::Encode(in, bytes);
    return Send(opcode, std::span<const std::byte>(bytes), modifiers);
  }

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

#endif  // IBEMU_HCA_MLX4_CORE_COMMANDS_H_
