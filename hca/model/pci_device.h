// A PCI function, as the machine that it is plugged into sees it.
#ifndef IBEMU_HCA_MODEL_PCI_DEVICE_H_
#define IBEMU_HCA_MODEL_PCI_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace ibemu::hca::model {

// What a device model reaches of its machine: memory, by bus address, and the
// interrupt controller.
class PciHost {
 public:
  virtual ~PciHost() = default;

  // False: nothing is mapped there, or not all of it (a fault of the IOMMU, a
  // master abort); then nothing was copied.
  virtual bool ReadMemory(uint64_t address, std::span<std::byte> into) = 0;
  virtual bool WriteMemory(uint64_t address,
                           std::span<const std::byte> from) = 0;

  // A message-signalled interrupt: a write of 4 bytes.
  virtual void SignalMessage(uint64_t address, uint32_t data) = 0;
};

// Calls come one at a time, on the loop thread of whoever owns it.
class PciDevice {
 public:
  virtual ~PciDevice() = default;

  // Not owned; set before anything else is called.
  virtual void SetHost(PciHost* host) = 0;

  // `size`: 1, 2 or 4.
  virtual uint32_t ReadConfig(size_t offset, size_t size) = 0;
  virtual void WriteConfig(size_t offset, size_t size, uint32_t value) = 0;

  // Size in bytes of memory BAR `bar` (0 ... 5); 0: there is none.  BARs have
  // 32 bits: QEMU's proxy knows no others.
  virtual size_t BarSize(int bar) const = 0;
  // `size`: 1, 2, 4 or 8.  The value's lowest byte is that of `offset`.
  virtual uint64_t ReadBar(int bar, size_t offset, size_t size) = 0;
  virtual void WriteBar(int bar, size_t offset, size_t size,
                        uint64_t value) = 0;

  // Of the bus.
  virtual void Reset() = 0;
};

}  // namespace ibemu::hca::model

#endif  // IBEMU_HCA_MODEL_PCI_DEVICE_H_
