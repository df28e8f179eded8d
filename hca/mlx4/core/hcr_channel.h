// HcrChannel: the command register (HCR) of the mlx4 family.
#ifndef IBEMU_HCA_MLX4_CORE_HCR_CHANNEL_H_
#define IBEMU_HCA_MLX4_CORE_HCR_CHANNEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/timers.h"
#include "hca/bus/command_channel.h"
#include "hca/bus/pause.h"
#include "hca/bus/pci_function.h"
#include "hca/mlx4/core/health.h"

namespace ibemu::hca::mlx4 {

// A CommandChannel that polls.  A command is done when hardware gives the
// register back with the toggle bit that it was given (mlx4/cmd.c,
// mlx4_cmd_poll).
class HcrChannel : public CommandChannel {
 public:
  // The time limit of a command, as in the Linux driver.
  static constexpr absl::Duration kTimeout = absl::Seconds(60);
  // The time limit for the end of a predecessor's command.
  static constexpr absl::Duration kGoTimeout = absl::Seconds(10);

  // All references must outlive it.  A reset of the adapter restarts the toggle
  // bit, so a new object is needed then.
  //
  // Errors: ResourceExhausted if there is no memory for two mailboxes.
  static absl::StatusOr<std::unique_ptr<HcrChannel>> Create(
      PciFunction& function, Bar& control, Timers& timers, Pause pause);

  absl::StatusOr<CommandResult> Execute(
      const FirmwareCommand& command) override;

  // Makes a command end when the firmware is dead: the contents of its error
  // buffer are then reported before kTimeout is over.
  void Watch(const Health& health) { health_ = health; }

  // Returns why every command is refused by now; OK while commands are
  // accepted.
  const absl::Status& dead() const { return dead_; }

  // Refuses all further commands, because the adapter was cut off from memory.
  void Close(const absl::Status& why);

 private:
  HcrChannel(Bar& control, Timers& timers, Pause pause,
             std::unique_ptr<DmaMemory> in, std::unique_ptr<DmaMemory> out)
      : control_(control),
        timers_(timers),
        pause_(std::move(pause)),
        in_(std::move(in)),
        out_(std::move(out)) {}

  uint32_t ReadStatus();
  void Post(const FirmwareCommand& command);
  // Waits until `done` is true of the status word, and returns that word.
  template <class Condition>
  absl::StatusOr<uint32_t> WaitFor(Condition done, absl::Duration limit);
  // Marks the adapter as dead, so that it gets no more commands.  Returns
  // `why`.
  absl::Status Die(absl::Status why);

  Bar& control_;
  Timers& timers_;
  const Pause pause_;
  const std::unique_ptr<DmaMemory> in_;
  const std::unique_ptr<DmaMemory> out_;
  std::optional<Health> health_;
  bool toggle_ = true;  // for the next command
  absl::Status dead_;   // see dead()
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_HCR_CHANNEL_H_
