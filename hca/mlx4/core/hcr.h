// The command register of the mlx4 family.
#ifndef IBEMU_HCA_MLX4_CORE_HCR_H_
#define IBEMU_HCA_MLX4_CORE_HCR_H_

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

// Polls: a command is done when hardware gives the register back with the
// toggle bit that it was given (mlx4/cmd.c, mlx4_cmd_poll).
class Hcr : public CommandChannel {
 public:
  // As long as the Linux driver waits.
  static constexpr absl::Duration kTimeout = absl::Seconds(60);
  // For a predecessor's command to end.
  static constexpr absl::Duration kGoTimeout = absl::Seconds(10);

  // All arguments must outlive it.  The toggle starts anew after a reset of the
  // adapter, and so must this.
  //
  // Errors: ResourceExhausted, no memory for two mailboxes.
  static absl::StatusOr<std::unique_ptr<Hcr>> Create(PciFunction& function,
                                                     Bar& control,
                                                     Timers& timers,
                                                     Pause pause);

  absl::StatusOr<CommandResult> Execute(const Command& command) override;

  // From now on a command ends when the firmware has: what its error buffer
  // tells is told before kTimeout is over.
  void Watch(const Health& health) { health_ = health; }

  // Why every command is refused by now; OK while none is.
  const absl::Status& dead() const { return dead_; }

  // The adapter was taken from its memory: no command reaches it any more.
  void Close(const absl::Status& why);

 private:
  Hcr(Bar& control, Timers& timers, Pause pause, std::unique_ptr<DmaMemory> in,
      std::unique_ptr<DmaMemory> out)
      : control_(control),
        timers_(timers),
        pause_(std::move(pause)),
        in_(std::move(in)),
        out_(std::move(out)) {}

  uint32_t ReadStatus();
  void Post(const Command& command);
  // Waits until `done` is true of the status word; the word.
  template <class Condition>
  absl::StatusOr<uint32_t> WaitFor(Condition done, absl::Duration limit);
  // The adapter is not to be asked again.
  absl::Status Die(absl::Status why);

  Bar& control_;
  Timers& timers_;
  const Pause pause_;
  const std::unique_ptr<DmaMemory> in_;
  const std::unique_ptr<DmaMemory> out_;
  std::optional<Health> health_;
  bool toggle_ = true;  // of the next command
  absl::Status dead_;   // why; OK while it lives
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_HCR_H_
