#include "hca/mlx4/core/firmware_commands.h"

#include <string>

#include "absl/strings/str_format.h"
#include "base/absl_text.h"

namespace ibemu::hca::mlx4 {
namespace {

FirmwareCommand MakeCommand(prm::Opcode opcode, Modifiers modifiers) {
  FirmwareCommand command;
  command.opcode = static_cast<uint16_t>(opcode);
  command.op_modifier = modifiers.op;
  command.in_modifier = modifiers.in;
  return command;
}

}  // namespace

absl::Status StatusOf(prm::Opcode opcode, uint8_t firmware_status) {
  const auto status = static_cast<prm::CommandStatus>(firmware_status);
  if (status == prm::CommandStatus::kOk) return absl::OkStatus();
  const std::string message = absl::StrFormat(
      "%s (0x%03x): the firmware answers %s (0x%02x)", Absl(prm::Name(opcode)),
      static_cast<int>(opcode), Absl(prm::Name(status)), firmware_status);
  if (status == prm::CommandStatus::kBadOp) {
    return absl::UnimplementedError(message);
  }
  return absl::InternalError(message);
}

bool IsRefusal(const absl::Status& status) {
  return absl::IsUnimplemented(status) || absl::IsInternal(status);
}

absl::StatusOr<uint64_t> FirmwareCommands::Run(prm::Opcode opcode,
                                               Modifiers modifiers,
                                               uint64_t in_parameter) {
  FirmwareCommand command = MakeCommand(opcode, modifiers);
  command.in_parameter = in_parameter;
  IBEMU_ASSIGN_OR_RETURN(const CommandResult result, channel_.Execute(command));
  IBEMU_RETURN_IF_ERROR(StatusOf(opcode, result.status));
  return result.out_parameter;
}

absl::Status FirmwareCommands::Send(prm::Opcode opcode,
                                    std::span<const std::byte> in,
                                    Modifiers modifiers) {
  FirmwareCommand command = MakeCommand(opcode, modifiers);
  command.in = in;
  IBEMU_ASSIGN_OR_RETURN(const CommandResult result, channel_.Execute(command));
  return StatusOf(opcode, result.status);
}

absl::Status FirmwareCommands::Ask(prm::Opcode opcode, std::span<std::byte> out,
                                   Modifiers modifiers) {
  FirmwareCommand command = MakeCommand(opcode, modifiers);
  command.out = out;
  IBEMU_ASSIGN_OR_RETURN(const CommandResult result, channel_.Execute(command));
  return StatusOf(opcode, result.status);
}

}  // namespace ibemu::hca::mlx4
