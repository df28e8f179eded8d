// PciSysfs: the facts that Linux's sysfs tells about a PCI function, and the
// checks whether a program may drive it.
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

// A line of the file `resource`: one base address register.
struct PciResource {
  uint64_t start = 0;
  size_t size = 0;  // bytes; 0: there is none
  bool is_memory = false;
};

// Another function in the same IOMMU group.
struct PciNeighbour {
  PciAddress address;
  std::string driver;  // empty: none
  bool is_bridge = false;

  bool operator==(const PciNeighbour&) const = default;
};

// The facts about one function.
struct PciFacts {
  PciAddress address;
  uint16_t vendor = 0, device = 0;
  std::string driver;  // bound to the function; empty: none
  bool is_virtual_function = false;
  std::optional<int> iommu_group;   // none: no IOMMU is in use
  std::string iommu_type;           // that group's: "DMA", "identity" ...
  std::vector<PciNeighbour> group;  // its other functions, by address
  std::array<PciResource, 6> bars;
};

// The directories of PCI functions in sysfs.
class PciSysfs {
 public:
  // `root`: the mount point of sysfs.
  explicit PciSysfs(std::string root = "/sys") : root_(std::move(root)) {}

  // Reads the facts about the function at `address`.
  //
  // Errors: NotFound (ENODEV) if there is no such function; Unavailable if one
  // of its files can't be read.
  absl::StatusOr<PciFacts> Read(const PciAddress& address) const;

  // Returns the path of the function's file `file`.
  std::string Path(const PciAddress& address, const std::string& file) const;

 private:
  std::string root_;
};

// Checks that the function is not a virtual one.
//
// Errors: FailedPrecondition, with the command that names the physical
// function.
absl::Status CheckPhysical(const PciFacts& facts);

// Checks that nothing keeps VFIO from driving the function.
//
// Errors: FailedPrecondition, with the command that helps.
absl::Status CheckVfio(const PciFacts& facts);

// Checks that nothing keeps a program from driving the function by mapping its
// files resourceN.
//
// Errors: as CheckVfio().
absl::Status CheckSysfs(const PciFacts& facts);

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_PCI_SYSFS_H_
