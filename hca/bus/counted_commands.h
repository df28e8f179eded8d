// CountedCommands: counters of the commands of an adapter.
#ifndef IBEMU_HCA_BUS_COUNTED_COMMANDS_H_
#define IBEMU_HCA_BUS_COUNTED_COMMANDS_H_

#include <cstdint>
#include <map>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/timers.h"
#include "hca/bus/command_channel.h"

namespace ibemu::hca {

// The results of all commands of one opcode.
struct CommandTotals {
  uint64_t done = 0;
  uint64_t refused = 0;    // by the firmware
  uint64_t timed_out = 0;  // the firmware did not answer
  uint64_t not_sent = 0;   // the adapter was gone, or the command was invalid
  absl::Duration time;     // spent in Execute(), in total
};

// A CommandChannel that passes each command on to another channel and counts
// it.
class CountedCommands : public CommandChannel {
 public:
  // Both references must outlive the object.
  CountedCommands(CommandChannel& channel, Timers& timers)
      : channel_(channel), timers_(timers) {}

  absl::StatusOr<CommandResult> Execute(
      const FirmwareCommand& command) override;

  // The counters by opcode, of commands that were given at least once.
  const std::map<uint16_t, CommandTotals>& totals() const { return totals_; }

 private:
  CommandChannel& channel_;
  Timers& timers_;
  std::map<uint16_t, CommandTotals> totals_;
};

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_COUNTED_COMMANDS_H_
