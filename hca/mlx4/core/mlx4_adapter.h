// Mlx4Adapter: an mlx4 adapter that was taken over and brought up.
#ifndef IBEMU_HCA_MLX4_CORE_MLX4_ADAPTER_H_
#define IBEMU_HCA_MLX4_CORE_MLX4_ADAPTER_H_

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
#include "hca/driver/driven_adapter.h"
#include "hca/mlx4/core/firmware_client.h"
#include "hca/mlx4/core/firmware_commands.h"
#include "hca/mlx4/core/hcr_channel.h"
#include "hca/mlx4/core/health.h"
#include "hca/mlx4/core/reset.h"

namespace ibemu::hca::mlx4 {

// Checks by its PCI IDs that a device is an adapter of this family.  A virtual
// function is refused.
//
// Errors: FailedPrecondition (ENODEV); the message names the adapters of this
// family, or tells how to get the physical function.
absl::Status CheckDevice(uint16_t vendor, uint16_t device);

// Returns a device's name and PCI IDs, such as "ConnectX-3 (15b3:1003)".
std::string DeviceText(uint16_t vendor, uint16_t device);

// An Mlx4Adapter is one PCI function with what every user of it needs: its
// registers, its commands and its firmware.
class Mlx4Adapter {
 public:
  // Takes the adapter over and brings it up, which takes some seconds.
  // `function` and `timers` must outlive it.
  //
  // Errors: those of CheckDevice(), TakeAdapter(), FirmwareClient::Start() and
  // Health::Create().  After an error the adapter has no owner; it is as it was
  // found, or reset.
  static absl::StatusOr<std::unique_ptr<Mlx4Adapter>> Start(
      PciFunction& function, Timers& timers, DeviceOptions options);

  // Takes the adapter over and asks its firmware what there is, but does not
  // bring it up: first contact.  The result is only good for asking firmware()
  // again.  `heard`: as for FirmwareClient::Inquire(), so it hears the answers
  // of an adapter that is then refused, too.
  //
  // Errors: those of CheckDevice(), TakeAdapter() and
  // FirmwareClient::Inquire().
  static absl::StatusOr<std::unique_ptr<Mlx4Adapter>> Inquire(
      PciFunction& function, Timers& timers, DeviceOptions options,
      FirmwareClient::Heard heard);

  // Brings the adapter down and releases it.  If its firmware is dead, the
  // adapter is reset, which keeps it from memory that is no longer the
  // driver's.
  ~Mlx4Adapter();
  Mlx4Adapter(const Mlx4Adapter&) = delete;
  Mlx4Adapter& operator=(const Mlx4Adapter&) = delete;

  PciFunction& function() { return function_; }
  Timers& timers() { return timers_; }
  FirmwareCommands& commands() { return commands_; }
  FirmwareClient& firmware() { return firmware_; }
  // REQUIRES: the adapter was brought up by Start().
  const Health& health() const { return *health_; }
  const CountedCommands& counted() const { return counted_; }
  // Returns why the adapter takes no commands any more; OK while it does.
  const absl::Status& dead() const { return hcr_->dead(); }
  Bar& control() { return control_; }
  Bar& uars() { return uars_; }

  // Runs a command that takes something away from the adapter on the way down.
  // If the firmware does not carry it out, the adapter is cut off, because the
  // caller is about to free its memory.
  void TakeDown(prm::Opcode opcode, Modifiers modifiers = {},
                uint64_t in_parameter = 0);

  // Runs a command that gives something to the adapter, which uses the caller's
  // memory from then on.  If the firmware does not say whether it has taken it,
  // the adapter is cut off, so that the caller may free that memory.
  //
  // Errors: those of FirmwareCommands.
  absl::Status Give(prm::Opcode opcode, std::span<const std::byte> in,
                    Modifiers modifiers);
  template <wire::Structure T>
  absl::Status Give(prm::Opcode opcode, const T& in, Modifiers modifiers) {
    std::array<std::byte, wire::kBytes<T>> bytes;
    wire::Encode(in, bytes);
    return Give(opcode, std::span<const std::byte>(bytes), modifiers);
  }

  // Resets the adapter, because its firmware is dead or not to be trusted.
  // From now on the adapter can't reach memory, has forgotten all of it, and
  // gets no more commands.
  void CutOff(const absl::Status& why);
  bool cut_off() const { return cut_off_; }

  void Note(std::string_view text) const { options_.note(text); }

 private:
  // Resets the adapter and takes it over; its firmware does not run yet.
  static absl::StatusOr<std::unique_ptr<Mlx4Adapter>> Take(
      PciFunction& function, Timers& timers, DeviceOptions options);
  Mlx4Adapter(PciFunction& function, Timers& timers, DeviceOptions options,
              Bar& control, Bar& uars, std::unique_ptr<HcrChannel> hcr)
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
  const std::unique_ptr<HcrChannel> hcr_;
  CountedCommands counted_;
  FirmwareCommands commands_;
  FirmwareClient firmware_;
  std::optional<Health> health_;
  bool cut_off_ = false;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_MLX4_ADAPTER_H_
