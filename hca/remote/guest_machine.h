// The virtual machine that a device model is plugged into.
#ifndef IBEMU_HCA_REMOTE_GUEST_MACHINE_H_
#define IBEMU_HCA_REMOTE_GUEST_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "hca/model/pci_device.h"
#include "hca/remote/guest_memory.h"
#include "hca/remote/qtest_channel.h"
#include "hca/remote/vtd_walker.h"

namespace ibemu::hca::remote {

// Memory, through the IOMMU if the machine has one, and interrupts.
class GuestMachine : public model::PciHost {
 public:
  struct Counters {
    uint64_t interrupts = 0;
    uint64_t faults = 0;  // accesses to what is not mapped
  };

  // `memory` and `qtest` are not owned.
  GuestMachine(GuestMemory& memory, QtestChannel& qtest);

  // From now on there is an intel-iommu, and the device is function `devfn` of
  // bus 0 behind it.
  void AddIommu(uint8_t devfn);

  bool ReadMemory(uint64_t address, std::span<std::byte> into) override;
  bool WriteMemory(uint64_t address, std::span<const std::byte> from) override;
  // Lost when QEMU can't be reached: OnError() tells.
  void SignalMessage(uint64_t address, uint32_t data) override;

  // The machine starts anew: where its IOMMU has its tables is asked again.
  void Reset() { registers_.reset(); }

  // `callback` is told each error of the way to QEMU (those of QtestChannel):
  // an interrupt is lost then, or an access fails for want of the IOMMU's
  // registers.
  void OnError(absl::AnyInvocable<void(const absl::Status&)> callback) {
    on_error_ = std::move(callback);
  }
  const Counters& counters() const { return counters_; }

 private:
  // Calls `access(guest-physical address, size)` for each piece of `size` bytes
  // that is contiguous there, first to see whether all are mapped.
  template <class Access>
  bool ForEachPiece(uint64_t address, size_t size, bool write, Access access);
  std::optional<VtdWalker::Translation> Translate(uint64_t address, bool write);
  bool ReadRegisters();
  void Note(const absl::Status& status);

  GuestMemory& memory_;
  QtestChannel& qtest_;
  std::optional<VtdWalker> iommu_;
  // Kept while they say that translation is on: a kernel sets them once.  Read
  // anew when a walk fails.
  std::optional<VtdRegisters> registers_;
  absl::AnyInvocable<void(const absl::Status&)> on_error_;
  Counters counters_;
};

}  // namespace ibemu::hca::remote

#endif  // IBEMU_HCA_REMOTE_GUEST_MACHINE_H_
