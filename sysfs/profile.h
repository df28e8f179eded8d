// The facts of each profile: what programs find that look at the adapter rather
// than at its ports.
#ifndef IBEMU_SYSFS_PROFILE_H_
#define IBEMU_SYSFS_PROFILE_H_

#include <cstdint>
#include <string_view>

#include "sysfs/view.h"

namespace ibemu::sysfs {

// The PCI function, driver and sysfs texts of the adapters of one profile.
struct ProfileFacts {
  uint16_t vendor, device, subsystem_vendor, subsystem_device;
  uint32_t pci_class;  // 24 bits
  uint8_t pci_revision;
  uint64_t bar_size;  // of BAR 0, a power of two
  bool bar_prefetchable;
  int link_generation;  // PCI Express 1 to 6
  int link_width;       // lanes
  std::string_view driver;
  std::string_view firmware, hardware_revision;
  std::string_view hca_type_one_port, hca_type,
      board_id;   // board_id "": as hca_type
  int verbs_abi;  // of the driver
};

const ProfileFacts& FactsOf(Profile profile);

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_PROFILE_H_
