// GuestMachine: the virtual machine that a device model is plugged into.
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

// The guest's memory, reached through its IOMMU if it has one, and its
// interrupts.
class GuestMachine : public model::PciHost {
 public:
  struct Counters {
    uint64_t interrupts = 0;
    uint64_t faults = 0;  // accesses to unmapped addresses
  };

  // `memory` and `qtest` are not owned.
  GuestMachine(GuestMemory& memory, QtestChannel& qtest);

  // Adds an intel-iommu to the machine.  The device is function `devfn` of bus
  // 0 behind it.
  void AddIommu(uint8_t devfn);

  bool ReadMemory(uint64_t address, std::span<std::byte> into) override;
  bool WriteMemory(uint64_t address, std::span<const std::byte> from) override;
  // Sends an MSI.  It is lost if QEMU can't be reached; the callback of
  // OnError() is told then.
  void SignalMessage(uint64_t address, uint32_t data) override;

  // Called when the machine is reset: the location of the IOMMU's tables is
  // read again.
  void Reset() { registers_.reset(); }

  // Sets a callback for each error in talking to QEMU (those of QtestChannel).
  // An interrupt is lost then, or an access fails because the IOMMU's registers
  // can't be read.
  void OnError(absl::AnyInvocable<void(const absl::Status&)> callback) {
    on_error_ = std::move(callback);
  }
  const Counters& counters() const { return counters_; }

 private:
  // Calls `access(guest-physical address, offset from `address`, size)` for
  // each part of the range that is contiguous in guest-physical memory.  With
  // an IOMMU, all parts are translated before the first access.
  template <class Access>
  bool ForEachPiece(uint64_t address, size_t size, bool write, Access access);
  std::optional<VtdWalker::Translation> Translate(uint64_t address, bool write);
  bool ReadRegisters();
  void Note(const absl::Status& status);

  GuestMemory& memory_;
  QtestChannel& qtest_;
  std::optional<VtdWalker> iommu_;
  // The IOMMU's registers, kept while they say that translation is on, because
  // a kernel sets them once.  They are read again when a walk fails.
  std::optional<VtdRegisters> registers_;
  absl::AnyInvocable<void(const absl::Status&)> on_error_;
  Counters counters_;
};

}  // namespace ibemu::hca::remote

#endif  // IBEMU_HCA_REMOTE_GUEST_MACHINE_H_
