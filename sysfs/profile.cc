#include "sysfs/profile.h"

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
    .firmware = "1.11.0",
    .hardware_revision = "2",
    .hca_type_one_port = "InfiniPath_QLE7340",
    .hca_type = "InfiniPath_QLE7342",
    .board_id = "",
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
    .firmware = "28.39.2048",
    .hardware_revision = "0",
    .hca_type_one_port = "MT4129",
    .hca_type = "MT4129",
    .board_id = "MT_0000000838",
    .verbs_abi = 1,
};

}  // namespace

const ProfileFacts& FactsOf(Profile profile) {
  return profile == Profile::kCx7 ? kCx7 : kQib;
}

}  // namespace ibemu::sysfs
