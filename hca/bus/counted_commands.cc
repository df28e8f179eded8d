#include "hca/bus/counted_commands.h"

namespace ibemu::hca {

absl::StatusOr<CommandResult> CountedCommands::Execute(
    const FirmwareCommand& command) {
  const absl::Time start = timers_.Now();
  auto result = channel_.Execute(command);
  CommandTotals& totals = totals_[command.opcode];
  totals.time += timers_.Now() - start;
  if (result.ok()) {
    ++(result->status == 0 ? totals.done : totals.refused);
  } else {
    ++(absl::IsDeadlineExceeded(result.status()) ? totals.timed_out
                                                 : totals.not_sent);
  }
  return result;
}

}  // namespace ibemu::hca
