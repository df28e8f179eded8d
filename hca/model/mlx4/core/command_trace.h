// CommandTrace: the commands that software gave to the adapter, as text to
// keep, read and compare.
#ifndef IBEMU_HCA_MODEL_MLX4_CORE_COMMAND_TRACE_H_
#define IBEMU_HCA_MODEL_MLX4_CORE_COMMAND_TRACE_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "hca/model/mlx4/core/command.h"

namespace ibemu::hca::model {

// Returns one command as a line of text, without the end of line:
//
//   SW2HW_EQ poll in=0x8 op=0 st=0x9 log_eq_size=0x9 intr=0x1
//
// The line holds the opcode's name; "poll" or "event", which is the way
// software learns of completion; the two modifiers; `value`, if the input
// parameter is a value; `status`, if the command was refused; and the non-zero
// components of the input mailbox, by their names in the PRM (up to a comma).
// "?0x20=0x80" shows the bits that byte 0x20 of the structure has set although
// the PRM reserves them.
//
// A bus address is printed as the word "bus", because its value is arbitrary.
// MADs are cut after their header.
std::string CommandText(const CommandRecord& record);

// An observer that passes the text of each command to `write`.
class CommandTrace : public CommandObserver {
 public:
  explicit CommandTrace(std::function<void(std::string_view)> write)
      : write_(std::move(write)) {}

  void OnCommand(const CommandRecord& record) override {
    write_(CommandText(record));
  }

 private:
  const std::function<void(std::string_view)> write_;
};

}  // namespace ibemu::hca::model

#endif  // IBEMU_HCA_MODEL_MLX4_CORE_COMMAND_TRACE_H_
