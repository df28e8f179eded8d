// PciDevice: a PCI function, as the machine that it is plugged into sees it.
#ifndef IBEMU_HCA_MODEL_PCI_DEVICE_H_
#define IBEMU_HCA_MODEL_PCI_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace ibemu::hca::model {

// The part of a machine that a device model can access: memory, by bus address,
// and the interrupt controller.
class PciHost {
 public:
  virtual ~PciHost() = default;

  // Return false, and copy nothing, unless all of the memory is mapped (a fault
  // of the IOMMU, a master abort).
  virtual bool ReadMemory(uint64_t address, std::span<std::byte> into) = 0;
  virtual bool WriteMemory(uint64_t address,
                           std::span<const std::byte> from) = 0;

  // Sends a message-signalled interrupt, which is a write of 4 bytes.
  virtual void SignalMessage(uint64_t address, uint32_t data) = 0;
};

// A device model's interface to its machine.  All calls come one at a time, on
// the loop thread of the object's owner.
class PciDevice {
 public:
  virtual ~PciDevice() = default;

  // REQUIRES: called before any other function.  `host` is not owned.
  virtual void SetHost(PciHost* host) = 0;

  // `size` is 1, 2 or 4 bytes.
  virtual uint32_t ReadConfig(size_t offset, size_t size) = 0;
  virtual void WriteConfig(size_t offset, size_t size, uint32_t value) = 0;

  // Returns the size in bytes of memory BAR `bar` (0 ... 5), or 0 if there is
  // none.  BARs have 32 bits, because QEMU's proxy knows no others.
  virtual size_t BarSize(int bar) const = 0;
  // `size` is 1, 2, 4 or 8 bytes.  The lowest byte of the value is the one at
  // `offset`.
  virtual uint64_t ReadBar(int bar, size_t offset, size_t size) = 0;
  virtual void WriteBar(int bar, size_t offset, size_t size,
                        uint64_t value) = 0;

  // A reset of the bus.
  virtual void Reset() = 0;
};

}  // namespace ibemu::hca::model

#endif  // IBEMU_HCA_MODEL_PCI_DEVICE_H_
