// PciEndpoint: the common part of all device models, which is the configuration
// space and MSI-X.
#ifndef IBEMU_HCA_MODEL_PCI_ENDPOINT_H_
#define IBEMU_HCA_MODEL_PCI_ENDPOINT_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "hca/model/msix_table.h"
#include "hca/model/pci_config_space.h"
#include "hca/model/pci_device.h"

namespace ibemu::hca::model {

// The base class of device models.  A derived class adds its BARs in its
// constructor, and implements only the registers: PciEndpoint exposes the MSI-X
// table and pending bits where `place` says.  While the function may not be bus
// master, it can neither access memory nor send interrupts.
class PciEndpoint : public PciDevice {
 public:
  PciEndpoint(const PciIdentity& identity, const MsixPlace& place, int vectors);
  PciEndpoint(const PciEndpoint&) = delete;
  PciEndpoint& operator=(const PciEndpoint&) = delete;

  void SetHost(PciHost* host) override { host_ = host; }
  uint32_t ReadConfig(size_t offset, size_t size) override;
  void WriteConfig(size_t offset, size_t size, uint32_t value) override;
  size_t BarSize(int bar) const override { return config_.BarSize(bar); }
  // Reads outside of the BAR return 0, and writes outside of it are ignored.
  uint64_t ReadBar(int bar, size_t offset, size_t size) override;
  void WriteBar(int bar, size_t offset, size_t size, uint64_t value) override;
  // Resets everything, including the model's own state.
  void Reset() override;

 protected:
  // Accesses to registers, that is, to every part of a BAR except MSI-X.  Sizes
  // and values are as in PciDevice.
  virtual uint64_t ReadRegister(int bar, size_t offset, size_t size) = 0;
  virtual void WriteRegister(int bar, size_t offset, size_t size,
                             uint64_t value) = 0;
  // Restores the state after power-on.  Called for a reset by the bus or by
  // software (function-level reset).
  virtual void ResetRegisters() = 0;

  PciConfigSpace& config() { return config_; }
  const PciConfigSpace& config() const { return config_; }

  // Access memory as PciHost does.  Both also return false unless the function
  // may be bus master.
  bool ReadMemory(uint64_t address, std::span<std::byte> into);
  bool WriteMemory(uint64_t address, std::span<const std::byte> from);
  // Raises interrupt `vector`, as in MsixTable.  A vector beyond the table is
  // ignored.
  void Interrupt(int vector);

 private:
  bool InTable(int bar, size_t offset) const;
  bool InPending(int bar, size_t offset) const;
  bool Inside(int bar, size_t offset, size_t size) const;

  PciHost* host_ = nullptr;  // not owned
  MsixPlace place_;
  PciConfigSpace config_;
  MsixTable msix_;
};

}  // namespace ibemu::hca::model

#endif  // IBEMU_HCA_MODEL_PCI_ENDPOINT_H_
