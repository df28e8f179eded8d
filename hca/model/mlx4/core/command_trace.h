// What software asked of the adapter, as text: to be kept, read and compared.
#ifndef IBEMU_HCA_MODEL_MLX4_CORE_COMMAND_TRACE_H_
#define IBEMU_HCA_MODEL_MLX4_CORE_COMMAND_TRACE_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "hca/model/mlx4/core/command.h"

namespace ibemu::hca::model {

// One command, without a line's end:
//
//   SW2HW_EQ poll in=0x8 op=0 st=0x9 log_eq_size=0x9 intr=0x1
//
// The opcode's name; how its end is told, by "poll" or "event"; the two
// modifiers; `value` of the input parameter where that is one; `status`, if it
// was refused; and the components of the input mailbox that are not 0, by their
// names in the PRM (up to a comma).  "?0x20=0x80" is what byte 0x20 of the
// structure has in bits that the PRM reserves.
//
// Bus addresses are the word "bus", as they are chance.  Of a MAD there is the
// header.
std::string CommandText(const CommandRecord& record);

// Gives each command's text to `write`.
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
