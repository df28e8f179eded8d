// One mlx4 adapter, taken over and brought up.
#ifndef IBEMU_HCA_MLX4_CORE_ADAPTER_H_
#define IBEMU_HCA_MLX4_CORE_ADAPTER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/timers.h"
#include "hca/bus/counted_commands.h"
#include "hca/bus/pci_function.h"
#include "hca/driver/device.h"
#include "hca/mlx4/core/commands.h"
#include "hca/mlx4/core/firmware.h"
#include "hca/mlx4/core/hcr.h"
#include "hca/mlx4/core/health.h"
#include "hca/mlx4/core/reset.h"

namespace ibemu::hca::mlx4 {

// Errors: FailedPrecondition (ENODEV), no adapter of this family: the message
// names those that are.
absl::Status CheckDevice(uint16_t vendor, uint16_t device);

// "ConnectX-3 (15b3:1003)".
std::string DeviceText(uint16_t vendor, uint16_t device);

class Adapter {
 public:
  // `function` and `timers` must outlive it.  It takes some seconds.
  //
  // Errors: CheckDevice()'s, TakeAdapter()'s, Firmware::Start()'s,
  // Health::Create()'s; the adapter is as it was found, then: reset and
  // nobody's.
  static absl::StatusOr<std::unique_ptr<Adapter>> Start(PciFunction& function,
                                                        Timers& timers,
                                                        DeviceOptions options);

  // As far as the firmware says what there is, and no further: first contact,
  // which only asks.  What can be done with it is to ask firmware() again.
  // `heard`: as Firmware::Inquire()'s, so also of an adapter that is refused.
  static absl::StatusOr<std::unique_ptr<Adapter>> Inquire(
      PciFunction& function, Timers& timers, DeviceOptions options,
      Firmware::Heard heard);

  // Brings it down.  When the firmware is dead, the reset of the adapter keeps
  // it from memory that is not ours any more.
  ~Adapter();
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;

  PciFunction& function() { return function_; }
  Timers& timers() { return timers_; }
  Commands& commands() { return commands_; }
  Firmware& firmware() { return firmware_; }
  // Of an adapter that was brought up.
  const Health& health() const { return *health_; }
  const CountedCommands& counted() const { return counted_; }
  // Why it takes no commands any more; OK while it does.
  const absl::Status& dead() const { return hcr_->dead(); }
  Bar& control() { return control_; }
  Bar& uars() { return uars_; }

  // Takes something away from the adapter on the way down.  When the firmware
  // does not do so, the adapter is cut off: the caller's memory will go.
  void TakeDown(prm::Opcode opcode, Modifiers modifiers = {},
                uint64_t in_parameter = 0);

  // Gives something to the adapter, which uses the caller's memory from then
  // on.  When the firmware does not say whether it has taken it, the adapter is
  // cut off: that memory may go.
  //
  // Errors: those of commands.
  absl::Status Give(prm::Opcode opcode, std::span<const std::byte> in,
                    Modifiers modifiers);
  template <wire::Structure T>
  absl::Status Give(prm::Opcode opcode, const T& in, Modifiers modifiers) {
    std::array<std::byte, wire::kBytes<T>> bytes;
    wire::Encode(in, bytes);
    return Give(opcode, std::span<const std::byte>(bytes), modifiers);
  }

  // The adapter can't reach memory from now on, and forgets all of it: its
  // firmware is dead, or not to be trusted.  It gets no command any more.
  void CutOff(const absl::Status& why);
  bool cut_off() const { return cut_off_; }

  void Note(std::string_view text) const { options_.note(text); }

 private:
  // Reset, and ours; its firmware does not run yet.
  static absl::StatusOr<std::unique_ptr<Adapter>> Take(PciFunction& function,
                                                       Timers& timers,
                                                       DeviceOptions options);
  Adapter(PciFunction& function, Timers& timers, DeviceOptions options,
          Bar& control, Bar& uars, std::unique_ptr<Hcr> hcr)
      : function_(function),
        timers_(timers),
        options_(std::move(options)),
        control_(control),
        uars_(uars),
        hcr_(std::move(hcr)),
        counted_(*hcr_, timers),
        commands_(counted_),
        firmware_(function, commands_, options_.name) {}

  PciFunction& function_;
  Timers& timers_;
  const DeviceOptions options_;
  Bar& control_;
  Bar& uars_;
  const std::unique_ptr<Hcr> hcr_;
  CountedCommands counted_;
  Commands commands_;
  Firmware firmware_;
  std::optional<Health> health_;
  bool cut_off_ = false;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_ADAPTER_H_
