// What all device models have in common: configuration space and MSI-X.
#ifndef IBEMU_HCA_MODEL_PCI_ENDPOINT_H_
#define IBEMU_HCA_MODEL_PCI_ENDPOINT_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "hca/model/msix_table.h"
#include "hca/model/pci_config_space.h"
#include "hca/model/pci_device.h"

namespace ibemu::hca::model {

// A device model derives from it, adds its BARs in its constructor, and is
// asked for registers alone: table and pending bits of MSI-X are shown where
// `place` says, and a function without the right to be bus master neither
// reaches memory nor interrupts.
class PciEndpoint : public PciDevice {
 public:
  PciEndpoint(const PciIdentity& identity, const MsixPlace& place, int vectors);
  PciEndpoint(const PciEndpoint&) = delete;
  PciEndpoint& operator=(const PciEndpoint&) = delete;

  void SetHost(PciHost* host) override { host_ = host; }
  uint32_t ReadConfig(size_t offset, size_t size) override;
  void WriteConfig(size_t offset, size_t size, uint32_t value) override;
  size_t BarSize(int bar) const override { return config_.BarSize(bar); }
  // What is outside of the BAR reads 0, and goes nowhere.
  uint64_t ReadBar(int bar, size_t offset, size_t size) override;
  void WriteBar(int bar, size_t offset, size_t size, uint64_t value) override;
  // Everything, the model's own state included.
  void Reset() override;

 protected:
  // Registers, which are all of a BAR but MSI-X.  Values as in PciDevice.
  virtual uint64_t ReadRegister(int bar, size_t offset, size_t size) = 0;
  virtual void WriteRegister(int bar, size_t offset, size_t size,
                             uint64_t value) = 0;
  // As after power-on: by the bus, or by software (function-level reset).
  virtual void ResetRegisters() = 0;

  PciConfigSpace& config() { return config_; }
  const PciConfigSpace& config() const { return config_; }

  // As in PciHost, and false unless the function may be bus master.
  bool ReadMemory(uint64_t address, std::span<std::byte> into);
  bool WriteMemory(uint64_t address, std::span<const std::byte> from);
  // An interrupt; `vector` as in MsixTable.  One beyond the table is none.
  void Interrupt(int vector);
  bool InterruptsEnabled() const { return msix_.enabled(); }

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
