// What Linux's sysfs says of a PCI function, and whether a program may drive
// it.
#ifndef IBEMU_HCA_BUS_PCI_SYSFS_H_
#define IBEMU_HCA_BUS_PCI_SYSFS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hca/bus/pci_address.h"

namespace ibemu::hca {

// A line of `resource`.
struct PciResource {
  uint64_t start = 0;
  size_t size = 0;  // bytes; 0: there is none
  bool is_memory = false;
};

struct PciNeighbour {
  PciAddress address;
  std::string driver;  // empty: none
  bool is_bridge = false;

  bool operator==(const PciNeighbour&) const = default;
};

struct PciFacts {
  PciAddress address;
  uint16_t vendor = 0, device = 0;
  std::string driver;  // that is bound to it; empty: none
  bool is_virtual_function = false;
  std::optional<int> iommu_group;   // none: no IOMMU is in use
  std::string iommu_type;           // "DMA", "identity" ...; of that group
  std::vector<PciNeighbour> group;  // the other functions of it, by address
  std::array<PciResource, 6> bars;
};

// A function's directory in sysfs.
class PciSysfs {
 public:
  // `root`: where sysfs is mounted.
  explicit PciSysfs(std::string root = "/sys") : root_(std::move(root)) {}

  // Errors: NotFound (ENODEV), there is no such function; Unavailable, a file
  // of it can't be read.
  absl::StatusOr<PciFacts> Read(const PciAddress& address) const;

  // The path of `file` of a function.
  std::string Path(const PciAddress& address, const std::string& file) const;

 private:
  std::string root_;
};

// It is no virtual function.
//
// Errors: FailedPrecondition, with the command that names the physical one.
absl::Status CheckPhysical(const PciFacts& facts);

// Nothing is in the way of VFIO.
//
// Errors: FailedPrecondition, with the command that helps.
absl::Status CheckVfio(const PciFacts& facts);

// Nothing is in the way of a program that maps resourceN.
//
// Errors: as CheckVfio().
absl::Status CheckSysfs(const PciFacts& facts);

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_PCI_SYSFS_H_
