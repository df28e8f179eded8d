// The facts of each profile: what programs find that look at the adapter rather
// than at its ports.
#ifndef IBEMU_SYSFS_PROFILE_H_
#define IBEMU_SYSFS_PROFILE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
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
  std::array<uint16_t, 3> firmware;  // {1, 11, 0}: 1.11.0
  std::string_view hardware_revision;
  // hca_type "": there is no such file; board_id "": as hca_type.
  std::string_view hca_type_one_port, hca_type, board_id;
  uint32_t vendor_oui;  // the vendor_id of verbs; vendor_part_id is `device`
  // The driver's.  None: no provider of libibverbs would drive the adapter by
  // write(), so it has no uverbs node.
  std::optional<int> verbs_abi;
};

const ProfileFacts& FactsOf(Profile profile);

// Returns "qib", "hfi1" or "cx7".
std::string_view ProfileName(Profile profile);

// Returns the profile that --profile=`name` chooses.
//
// Errors: InvalidArgument, there is none of that name.
absl::StatusOr<Profile> ParseProfile(std::string_view name);

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_PROFILE_H_
