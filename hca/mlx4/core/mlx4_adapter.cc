#include "hca/mlx4/core/mlx4_adapter.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "base/status_macros.h"
#include "hca/bus/pci_config.h"
#include "hca/mlx4/core/presence.h"
#include "hca/prm/mlx4_registers.h"

namespace ibemu::hca::mlx4 {
namespace {

struct KnownDevice {
  uint16_t id;
  std::string_view name;
  bool is_virtual = false;
};

// The adapters of the Linux driver's table (mlx4/main.c), named as in pci.ids,
// without those that have Ethernet ports only.
constexpr std::array kKnownDevices = {
    KnownDevice{0x6340, "ConnectX"},
    KnownDevice{0x634a, "ConnectX"},
    KnownDevice{0x6354, "ConnectX"},
    KnownDevice{0x6732, "ConnectX"},
    KnownDevice{0x673c, "ConnectX"},
    KnownDevice{0x676e, "ConnectX-2"},
    KnownDevice{0x6746, "ConnectX-2"},
    KnownDevice{0x1003, "ConnectX-3"},
    KnownDevice{0x1007, "ConnectX-3 Pro"},
    KnownDevice{0x1002, "virtual function of a ConnectX-2", true},
    KnownDevice{0x1004, "virtual function of a ConnectX-3", true},
};

const KnownDevice* FindDevice(uint16_t vendor, uint16_t device) {
  if (vendor != prm::kMellanoxVendor) return nullptr;
  const auto found = std::ranges::find(kKnownDevices, device, &KnownDevice::id);
  return found == kKnownDevices.end() ? nullptr : &*found;
}

}  // namespace

std::string DeviceText(uint16_t vendor, uint16_t device) {
  const KnownDevice* const known = FindDevice(vendor, device);
  return absl::StrFormat("%s (%04x:%04x)",
                         known ? Absl(known->name) : "unknown device", vendor,
                         device);
}

absl::Status CheckDevice(uint16_t vendor, uint16_t device) {
  const KnownDevice* const known = FindDevice(vendor, device);
  if (known == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        DeviceText(vendor, device),
        ": ibemu drives ConnectX, ConnectX-2 and ConnectX-3 (\"lspci -nn -d "
        "15b3:\" shows what there is)"));
  }
  if (known->is_virtual) {
    return absl::FailedPreconditionError(absl::StrCat(
        DeviceText(vendor, device),
        ": only the physical function can be driven from reset on: give this "
        "virtual machine that one (on its host \"ls -l "
        "/sys/bus/pci/devices/*/physfn\" names it; to QEMU it is \"-device "
        "vfio-pci,host=DDDD:BB:DD.F\")"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Mlx4Adapter>> Mlx4Adapter::Start(
    PciFunction& function, Timers& timers, DeviceOptions options) {
  IBEMU_ASSIGN_OR_RETURN(std::unique_ptr<Mlx4Adapter> adapter,
                         Take(function, timers, std::move(options)));
  IBEMU_RETURN_IF_ERROR(adapter->firmware_.Start());
  IBEMU_ASSIGN_OR_RETURN(adapter->health_,
                         Health::Create(function, adapter->firmware_.fw()));
  adapter->hcr_->Watch(*adapter->health_);
  return adapter;
}

absl::StatusOr<std::unique_ptr<Mlx4Adapter>> Mlx4Adapter::Inquire(
    PciFunction& function, Timers& timers, DeviceOptions options,
    FirmwareClient::Heard heard) {
  IBEMU_ASSIGN_OR_RETURN(std::unique_ptr<Mlx4Adapter> adapter,
                         Take(function, timers, std::move(options)));
  IBEMU_RETURN_IF_ERROR(adapter->firmware_.Inquire(std::move(heard)));
  return adapter;
}

absl::StatusOr<std::unique_ptr<Mlx4Adapter>> Mlx4Adapter::Take(
    PciFunction& function, Timers& timers, DeviceOptions options) {
  IBEMU_RETURN_IF_ERROR(CheckDevice(
      static_cast<uint16_t>(function.ReadConfig(pci_config::kVendor, 2)),
      static_cast<uint16_t>(function.ReadConfig(pci_config::kDevice, 2))));
  // The adapter may still write to its last owner's memory, so it must not be
  // bus master before the reset.
  pci_config::SetCommand(function, /*memory=*/true, /*bus_master=*/false);
  IBEMU_ASSIGN_OR_RETURN(Bar* const control,
                         function.OpenBar(prm::kControlBar));
  IBEMU_ASSIGN_OR_RETURN(Bar* const uars, function.OpenBar(prm::kUarBar));
  IBEMU_ASSIGN_OR_RETURN(
      const LastOwner last,
      TakeAdapter(function, *control, timers, options.pause));
  if (last == LastOwner::kWasKilled) {
    options.note(
        "the adapter's last owner was killed and left its owner semaphore "
        "set: the reset has cleared it");
  }
  auto hcr = HcrChannel::Create(function, *control, timers, options.pause);
  if (!hcr.ok()) {
    ReleaseAdapter(*control);
    return hcr.status();
  }
  pci_config::SetCommand(function, /*memory=*/true, /*bus_master=*/true);
  return std::unique_ptr<Mlx4Adapter>(new Mlx4Adapter(
      function, timers, std::move(options), *control, *uars, *std::move(hcr)));
}

Mlx4Adapter::~Mlx4Adapter() {
  if (!cut_off_) {
    if (const absl::Status stopped = firmware_.Stop(); !stopped.ok()) {
      CutOff(stopped);
    }
  }
  // From here on the adapter can't reach the memory that the members free.
  pci_config::SetCommand(function_, /*memory=*/true, /*bus_master=*/false);
  ReleaseAdapter(control_);
}

void Mlx4Adapter::TakeDown(prm::Opcode opcode, Modifiers modifiers,
                           uint64_t in_parameter) {
  if (cut_off_) return;
  const absl::Status done =
      commands_.Run(opcode, modifiers, in_parameter).status();
  if (!done.ok()) CutOff(done);
}

absl::Status Mlx4Adapter::Give(prm::Opcode opcode,
                               std::span<const std::byte> in,
                               Modifiers modifiers) {
  absl::Status given = commands_.Send(opcode, in, modifiers);
  if (!given.ok() && !dead().ok()) CutOff(given);
  return given;
}

void Mlx4Adapter::CutOff(const absl::Status& why) {
  if (cut_off_) return;
  cut_off_ = true;
  hcr_->Close(why);
  // An adapter that is gone can't be reset.
  if (!CheckPresence(function_).ok()) return Note(std::string(why.message()));
  pci_config::SetCommand(function_, /*memory=*/true, /*bus_master=*/false);
  Note(absl::StrCat(why.message(), ": the adapter is reset"));
  const absl::Status reset =
      ResetAdapter(function_, control_, timers_, options_.pause);
  if (!reset.ok()) Note(std::string(reset.message()));
}

}  // namespace ibemu::hca::mlx4
