#include "sysfs/profile.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"

namespace ibemu::sysfs {
namespace {

// Names and numbers as drivers/infiniband/hw/qib has them for the boards
// QLE7340 and QLE7342.  Its fw_ver is an empty line, which readers take for a
// fault, so here it has a value.
constexpr ProfileFacts kQib = {
    .vendor = 0x1077,
    .device = 0x7322,
    .subsystem_vendor = 0x1077,
    .subsystem_device = 0x7322,
    .pci_class = 0x0c0600,
    .pci_revision = 0x02,
    .bar_size = uint64_t{4} << 20,
    .bar_prefetchable = false,
    .link_generation = 2,
    .link_width = 8,
    .driver = "ib_qib",
    .firmware = {1, 11, 0},
    .hardware_revision = "2",
    .hca_type_one_port = "InfiniPath_QLE7340",
    .hca_type = "InfiniPath_QLE7342",
    .board_id = "",
    .vendor_oui = 0x001175,
    .verbs_abi = 1,
};

// As drivers/infiniband/hw/hfi1 has them for the discrete adapter of one port.
// The driver has no hca_type.
constexpr ProfileFacts kHfi1 = {
    .vendor = 0x8086,
    .device = 0x24f0,
    .subsystem_vendor = 0x8086,
    .subsystem_device = 0x2628,
    .pci_class = 0x020800,
    .pci_revision = 0x11,
    .bar_size = uint64_t{64} << 20,
    .bar_prefetchable = false,
    .link_generation = 3,
    .link_width = 16,
    .driver = "hfi1",
    .firmware = {1, 27, 0},
    .hardware_revision = "11",
    .hca_type_one_port = "",
    .hca_type = "",
    .board_id = "Intel Omni-Path Host Fabric Interface Adapter 100 Series",
    .vendor_oui = 0x001175,
    .verbs_abi = 1,
};

// A ConnectX-7 adapter card with one NDR port.
constexpr ProfileFacts kCx7 = {
    .vendor = 0x15b3,
    .device = 0x1021,
    .subsystem_vendor = 0x15b3,
    .subsystem_device = 0x0041,
    .pci_class = 0x020700,
    .pci_revision = 0x00,
    .bar_size = uint64_t{32} << 20,
    .bar_prefetchable = true,
    .link_generation = 5,
    .link_width = 16,
    .driver = "mlx5_core",
    .firmware = {28, 39, 2048},
    .hardware_revision = "0",
    .hca_type_one_port = "MT4129",
    .hca_type = "MT4129",
    .board_id = "MT_0000000838",
    .vendor_oui = 0x0002c9,
    .verbs_abi = std::nullopt,
};

}  // namespace

const ProfileFacts& FactsOf(Profile profile) {
  switch (profile) {
    case Profile::kHfi1:
      return kHfi1;
    case Profile::kCx7:
      return kCx7;
    case Profile::kQib:
      break;
  }
  return kQib;
}

std::string_view ProfileName(Profile profile) {
  switch (profile) {
    case Profile::kHfi1:
      return "hfi1";
    case Profile::kCx7:
      return "cx7";
    case Profile::kQib:
      break;
  }
  return "qib";
}

absl::StatusOr<Profile> ParseProfile(std::string_view name) {
  DidYouMean meant(name);
  for (const Profile profile : {Profile::kQib, Profile::kHfi1, Profile::kCx7}) {
    if (name == ProfileName(profile)) return profile;
    meant.Offer(ProfileName(profile));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--profile=", Absl(name), ": there are \"qib\", \"hfi1\" and \"cx7\"",
      meant.Question()));
}

}  // namespace ibemu::sysfs
