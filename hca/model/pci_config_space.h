// PciConfigSpace: the configuration space of a device model (PCI Local Bus 3.0
// chapter 6).
#ifndef IBEMU_HCA_MODEL_PCI_CONFIG_SPACE_H_
#define IBEMU_HCA_MODEL_PCI_CONFIG_SPACE_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace ibemu::hca::model {

// The identification registers of a function.
struct PciIdentity {
  uint16_t vendor = 0;
  uint16_t device = 0;
  uint16_t subsystem_vendor = 0;
  uint16_t subsystem = 0;
  uint32_t class_code = 0;  // 24 bits: base class, subclass, interface
  uint8_t revision = 0;
};

// The link that a PCI Express capability describes.
struct PcieLink {
  int speed = 3;  // generation: 3 is 8 GT/s
  int width = 8;  // lanes
};

// The place of the MSI-X table and the pending bits in the function's BARs.
// Offsets are multiples of 8 bytes.
struct MsixPlace {
  int bar = 0;
  uint32_t table_offset = 0;
  uint32_t pending_offset = 0;
};

// The 256 bytes of a type 0 header and its capabilities: the constant bits, the
// bits that software may write, and the values that it wrote.  The function has
// no interrupt pin, and its BARs have 32 bits.
class PciConfigSpace {
 public:
  static constexpr size_t kSize = 256;

  explicit PciConfigSpace(const PciIdentity& identity);

  // The Add functions declare parts of the function, before it is used.  For a
  // BAR (0 ... 5), `size` is a power of two, 16 bytes ... 2 GiB.
  void AddMemoryBar(int bar, size_t size);
  // Adds the capability of an endpoint with function-level reset.
  void AddPciExpress(const PcieLink& link);
  void AddMsix(const MsixPlace& place, int vectors);

  // `size` is 1, 2 or 4 bytes.  Reads outside of the space return all ones, as
  // where there is no function.
  uint32_t Read(size_t offset, size_t size) const;
  void Write(size_t offset, size_t size, uint32_t value);

  size_t BarSize(int bar) const;  // bytes; 0 if there is no such BAR
  // A bit of the command register.
  bool bus_master() const;
  // Bits of the MSI-X capability.
  bool msix_enabled() const;
  bool msix_all_masked() const;

  // Returns true once after software has asked for a function-level reset.
  bool TakeFunctionLevelReset();

  // Forgets what software wrote, and keeps what was added.
  void Reset();

 private:
  // Appends a capability of `size` bytes to the list, and returns its offset.
  size_t AddCapability(uint8_t id, size_t size);

  uint32_t Get(size_t offset, size_t size) const;
  // Sets the value after a reset, and the bits that software may write.
  void Define(size_t offset, size_t size, uint32_t value, uint32_t writable);

  std::array<uint8_t, kSize> initial_{};
  std::array<uint8_t, kSize> writable_{};
  std::array<uint8_t, kSize> bytes_{};
  std::array<size_t, 6> bar_sizes_{};
  size_t last_link_;  // the byte that links to the next capability
  size_t free_;       // the offset of the next capability
  size_t express_ = 0;
  size_t msix_ = 0;
  bool reset_asked_ = false;
};

}  // namespace ibemu::hca::model

#endif  // IBEMU_HCA_MODEL_PCI_CONFIG_SPACE_H_
