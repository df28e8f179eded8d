#include "hca/mlx4/core/reset.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"
#include "base/status_macros.h"
#include "hca/bus/big_endian.h"
#include "hca/bus/pci_config.h"
#include "hca/mlx4/core/presence.h"
#include "hca/prm/mlx4_registers.h"

namespace ibemu::hca::mlx4 {
namespace {

constexpr absl::Duration kSemaphoreTimeout = absl::Seconds(10);
constexpr absl::Duration kResetTime = absl::Seconds(1);
constexpr absl::Duration kReturnTimeout = absl::Seconds(2);
constexpr absl::Duration kStep = absl::Milliseconds(1);

constexpr size_t kHeaderWords = 16;
constexpr size_t kDeviceControl = 0x08;  // offset in the PCI Express capability
constexpr size_t kLinkControl = 0x10;

// Returns the offset of capability `id`; 0 if there is none.
size_t FindCapability(PciFunction& function, uint8_t id) {
  if ((function.ReadConfig(pci_config::kStatus, 2) &
       pci_config::kStatusCapabilities) == 0) {
    return 0;
  }
  size_t at = function.ReadConfig(pci_config::kCapabilities, 1);
  // The number of entries is limited in case the list is a ring: there is room
  // for 48.
  for (int seen = 0; at >= 0x40 && at < 0xff && seen < 48; ++seen) {
    if (function.ReadConfig(at, 1) == id) return at;
    at = function.ReadConfig(at + 1, 1);
  }
  return 0;
}

// The part of configuration space that a reset of the firmware destroys.
class SavedConfig {
 public:
  explicit SavedConfig(PciFunction& function)
      : express_(FindCapability(function, pci_config::kExpress)) {
    for (size_t i = 0; i < kHeaderWords; ++i) {
      header_[i] = function.ReadConfig(4 * i, 4);
    }
    if (express_ == 0) return;
    device_control_ = function.ReadConfig(express_ + kDeviceControl, 2);
    link_control_ = function.ReadConfig(express_ + kLinkControl, 2);
  }

  // The command register comes last, because by then the BARs are restored.
  void Restore(PciFunction& function) const {
    if (express_ != 0) {
      function.WriteConfig(express_ + kDeviceControl, 2, device_control_);
      function.WriteConfig(express_ + kLinkControl, 2, link_control_);
    }
    for (size_t i = 0; i < kHeaderWords; ++i) {
      if (4 * i == pci_config::kCommand) continue;
      function.WriteConfig(4 * i, 4, header_[i]);
    }
    pci_config::SetCommand(function, /*memory=*/true, /*bus_master=*/false);
  }

 private:
  size_t express_;
  std::array<uint32_t, kHeaderWords> header_{};
  uint32_t device_control_ = 0;
  uint32_t link_control_ = 0;
};

template <class Condition>
bool WaitUntil(Condition done, absl::Duration limit, Timers& timers,
               const Pause& pause) {
  const absl::Time deadline = timers.Now() + limit;
  while (!done()) {
    if (timers.Now() >= deadline) return false;
    pause(kStep);
  }
  return true;
}

}  // namespace

absl::Status ResetAdapter(PciFunction& function, Bar& control, Timers& timers,
                          const Pause& pause) {
  IBEMU_RETURN_IF_ERROR(CheckPresence(function));
  const SavedConfig saved(function);
  uint32_t semaphore = 0;
  const auto is_free_or_gone = [&] {
    semaphore = ReadBe32(control, prm::kResetSemaphore);
    return semaphore == 0 || semaphore == kAllOnes;
  };
  if (!WaitUntil(is_free_or_gone, kSemaphoreTimeout, timers, pause)) {
    return absl::FailedPreconditionError(
        "the adapter's reset semaphore is taken: another program, or another "
        "function of the card, resets it: try again; when it stays so, only a "
        "power cycle of the machine helps");
  }
  if (semaphore == kAllOnes) return GoneFromBus();
  WriteBe32(control, prm::kReset, prm::kResetValue);
  pause(kResetTime);
  const auto answers = [&function] { return CheckPresence(function).ok(); };
  if (!WaitUntil(answers, kReturnTimeout, timers, pause)) {
    return absl::UnavailableError(
        "the adapter did not come back from its reset: a power cycle of the "
        "machine is needed");
  }
  saved.Restore(function);
  return absl::OkStatus();
}

absl::StatusOr<LastOwner> TakeAdapter(PciFunction& function, Bar& control,
                                      Timers& timers, const Pause& pause) {
  // Reading the semaphore takes it, if it was free.
  const bool was_free = ReadBe32(control, prm::kOwner) == 0;
  if (const absl::Status reset = ResetAdapter(function, control, timers, pause);
      !reset.ok()) {
    if (was_free) ReleaseAdapter(control);
    return reset;
  }
  const bool is_free = ReadBe32(control, prm::kOwner) == 0;
  if (was_free) return LastOwner::kLeft;
  if (is_free) return LastOwner::kWasKilled;
  return absl::FailedPreconditionError(
      "the adapter's owner semaphore is taken, and stays so after a reset: "
      "another function of the card, or another machine, drives it");
}

void ReleaseAdapter(Bar& control) { WriteBe32(control, prm::kOwner, 0); }

}  // namespace ibemu::hca::mlx4
