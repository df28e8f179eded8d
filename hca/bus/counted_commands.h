// Counts the commands of an adapter.
#ifndef IBEMU_HCA_BUS_COUNTED_COMMANDS_H_
#define IBEMU_HCA_BUS_COUNTED_COMMANDS_H_

#include <cstdint>
#include <map>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/timers.h"
#include "hca/bus/command_channel.h"

namespace ibemu::hca {

// What became of commands of one kind.
struct CommandTotals {
  uint64_t done = 0;
  uint64_t refused = 0;    // the firmware says so
  uint64_t timed_out = 0;  // the firmware says nothing
  uint64_t not_sent = 0;   // the adapter was gone, or the command is none
  absl::Duration time;     // from Execute() to its end, of all of them
};

// A channel before a channel.
class CountedCommands : public CommandChannel {
 public:
  // Both must outlive it.
  CountedCommands(CommandChannel& channel, Timers& timers)
      : channel_(channel), timers_(timers) {}

  absl::StatusOr<CommandResult> Execute(const Command& command) override;

  // By opcode; those that were given at least once.
  const std::map<uint16_t, CommandTotals>& totals() const { return totals_; }

 private:
  CommandChannel& channel_;
  Timers& timers_;
  std::map<uint16_t, CommandTotals> totals_;
};

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_COUNTED_COMMANDS_H_
