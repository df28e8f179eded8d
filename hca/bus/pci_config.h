// Registers of a function's configuration space (PCI Local Bus 3.0 chapter 6).
#ifndef IBEMU_HCA_BUS_PCI_CONFIG_H_
#define IBEMU_HCA_BUS_PCI_CONFIG_H_

#include <cstddef>
#include <cstdint>

#include "hca/bus/pci_function.h"

namespace ibemu::hca::pci_config {

inline constexpr size_t kVendor = 0x00;    // 2 bytes
inline constexpr size_t kDevice = 0x02;    // 2 bytes
inline constexpr size_t kCommand = 0x04;   // 2 bytes
inline constexpr size_t kStatus = 0x06;    // 2 bytes
inline constexpr size_t kRevision = 0x08;  // 1 byte; the class code's 3 follow
inline constexpr size_t kCapabilities =
    0x34;  // 1 byte: offset of the first one

inline constexpr uint32_t kCommandMemory = 1 << 1;
inline constexpr uint32_t kCommandBusMaster = 1 << 2;
inline constexpr uint32_t kCommandIntxDisable = 1 << 10;
inline constexpr uint32_t kStatusCapabilities = 1 << 4;

inline constexpr uint8_t kMsix = 0x11;     // capability ID
inline constexpr uint8_t kExpress = 0x10;  // capability ID

// Sets whether the function answers to its BARs (`memory`) and whether it may
// reach memory (`bus_master`).  The interrupt pin is disabled in any case:
// nobody serves it, and Linux disables a shared line for all its devices if
// nobody handles its interrupts.
inline void SetCommand(PciFunction& function, bool memory, bool bus_master) {
  uint32_t command = function.ReadConfig(kCommand, 2);
  command &= ~(kCommandMemory | kCommandBusMaster);
  if (memory) command |= kCommandMemory;
  if (bus_master) command |= kCommandBusMaster;
  command |= kCommandIntxDisable;
  function.WriteConfig(kCommand, 2, command);
}

}  // namespace ibemu::hca::pci_config

#endif  // IBEMU_HCA_BUS_PCI_CONFIG_H_
