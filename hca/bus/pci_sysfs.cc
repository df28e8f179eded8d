#include "hca/bus/pci_sysfs.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace ibemu::hca {
namespace {

namespace fs = std::filesystem;

constexpr char kDevices[] = "/bus/pci/devices/";
constexpr uint64_t kMemoryFlag = 0x200;  // IORESOURCE_MEM, linux/ioport.h
constexpr uint32_t kBridgeClass = 0x06;
// Writes the setting to a file that Debian's GRUB reads.
constexpr char kBootWithIommu[] =
    "mkdir -p /etc/default/grub.d && echo "
    "'GRUB_CMDLINE_LINUX=$GRUB_CMDLINE_LINUX\\ intel_iommu=on' > "
    "/etc/default/grub.d/iommu.cfg && update-grub";

// Returns the number in a file such as `vendor` ("0x15b3").
absl::StatusOr<uint32_t> ReadHex(const std::string& path) {
  std::ifstream file(path);
  uint32_t value = 0;
  if (!(file >> std::hex >> value)) {
    return absl::UnavailableError(
        absl::StrCat(path, ": there is no number to read"));
  }
  return value;
}

// Returns the last component of a symbolic link's target; empty if `path` is
// not a link.
std::string LinkName(const std::string& path) {
  std::error_code error;
  return fs::read_symlink(path, error).filename().string();
}

absl::Status ReadResources(const std::string& path,
                           std::array<PciResource, 6>& bars) {
  std::ifstream file(path);
  for (PciResource& bar : bars) {
    uint64_t start = 0;
    uint64_t end = 0;
    uint64_t flags = 0;
    if (!(file >> std::hex >> start >> end >> flags)) {
      return absl::UnavailableError(
          absl::StrCat(path,
                       ": a line has three numbers, for each of six "
                       "base address registers"));
    }
    bar.start = start;
    bar.size = end > start ? end - start + 1 : 0;
    bar.is_memory = (flags & kMemoryFlag) != 0;
  }
  return absl::OkStatus();
}

std::vector<PciNeighbour> ReadGroup(const std::string& path,
                                    const PciAddress& self) {
  std::vector<PciNeighbour> group;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    const auto address = PciAddress::Parse(entry.path().filename().string());
    if (!address.ok() || *address == self) continue;
    const auto class_code = ReadHex(entry.path().string() + "/class");
    group.push_back(
        {.address = *address,
         .driver = LinkName(entry.path().string() + "/driver"),
         .is_bridge = class_code.ok() && *class_code >> 16 == kBridgeClass});
  }
  const auto key = [](const PciNeighbour& one) {
    const PciAddress& at = one.address;
    return std::tuple(at.domain, at.bus, at.device, at.function);
  };
  std::ranges::sort(group, {}, key);
  return group;
}

std::string UnbindCommand(const PciAddress& address) {
  const std::string name = address.Text();
  return absl::StrCat("echo ", name, " > ", "/sys/bus/pci/devices/", name,
                      "/driver/unbind");
}

// Returns the command that binds a function to vfio-pci.
std::string BindCommand(const PciAddress& address) {
  const std::string name = address.Text();
  return absl::StrCat(
      "modprobe vfio-pci && echo vfio-pci > ", "/sys/bus/pci/devices/", name,
      "/driver_override && echo ", name, " > /sys/bus/pci/drivers_probe");
}

// Returns whether VFIO considers a group with this function viable, by the rule
// of vfio_dev_viable() in Linux.
bool IsHarmless(const PciNeighbour& other) {
  return other.is_bridge || other.driver.empty() ||
         other.driver == "vfio-pci" || other.driver == "pci-stub";
}

}  // namespace

std::string PciSysfs::Path(const PciAddress& address,
                           const std::string& file) const {
  return absl::StrCat(root_, kDevices, address.Text(), "/", file);
}

absl::StatusOr<PciFacts> PciSysfs::Read(const PciAddress& address) const {
  std::error_code error;
  if (!fs::exists(Path(address, "."), error)) {
    return absl::NotFoundError(absl::StrCat(
        address.Text(),
        ": there is no such PCI function (\"lspci -D -d 15b3:\" lists "
        "Mellanox's)"));
  }
  PciFacts facts;
  facts.address = address;
  IBEMU_ASSIGN_OR_RETURN(const uint32_t vendor,
                         ReadHex(Path(address, "vendor")));
  IBEMU_ASSIGN_OR_RETURN(const uint32_t device,
                         ReadHex(Path(address, "device")));
  facts.vendor = static_cast<uint16_t>(vendor);
  facts.device = static_cast<uint16_t>(device);
  IBEMU_RETURN_IF_ERROR(ReadResources(Path(address, "resource"), facts.bars));
  facts.driver = LinkName(Path(address, "driver"));
  facts.is_virtual_function = fs::is_symlink(Path(address, "physfn"), error);
  const std::string group = LinkName(Path(address, "iommu_group"));
  int number = 0;
  if (!group.empty() &&
      std::from_chars(group.data(), group.data() + group.size(), number).ec ==
          std::errc()) {
    facts.iommu_group = number;
    std::ifstream(Path(address, "iommu_group/type")) >> facts.iommu_type;
    facts.group = ReadGroup(Path(address, "iommu_group/devices"), address);
  }
  return facts;
}

absl::Status CheckPhysical(const PciFacts& facts) {
  if (!facts.is_virtual_function) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      facts.address.Text(),
      ": a virtual function: only the physical function can be driven from "
      "reset on (\"readlink /sys/bus/pci/devices/",
      facts.address.Text(), "/physfn\" names it)"));
}

absl::Status CheckVfio(const PciFacts& facts) {
  IBEMU_RETURN_IF_ERROR(CheckPhysical(facts));
  const std::string name = facts.address.Text();
  if (!facts.iommu_group) {
    return absl::FailedPreconditionError(absl::StrCat(
        name,
        ": in no IOMMU group, and VFIO needs an IOMMU: switch it on in the "
        "machine's setup (VT-d, AMD-Vi), on Intel's boot with intel_iommu=on, "
        "too: \"",
        kBootWithIommu,
        "\", and reboot; or say access=sysfs, which nothing protects memory "
        "from"));
  }
  if (facts.driver.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        name, ": no driver is bound to it, and VFIO needs its own: \"",
        BindCommand(facts.address), "\""));
  }
  if (facts.driver != "vfio-pci") {
    return absl::FailedPreconditionError(
        absl::StrCat(name, ": the driver ", facts.driver, " has it: \"",
                     UnbindCommand(facts.address), "\", then \"",
                     BindCommand(facts.address), "\""));
  }
  for (const PciNeighbour& other : facts.group) {
    if (IsHarmless(other)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(name, ": its IOMMU group ", *facts.iommu_group, " has ",
                     other.address.Text(), ", too, which the driver ",
                     other.driver, " has; VFIO wants all of a group: \"",
                     UnbindCommand(other.address), "\""));
  }
  return absl::OkStatus();
}

absl::Status CheckSysfs(const PciFacts& facts) {
  IBEMU_RETURN_IF_ERROR(CheckPhysical(facts));
  const std::string name = facts.address.Text();
  if (!facts.driver.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(name, ": the driver ", facts.driver, " has it: \"",
                     UnbindCommand(facts.address), "\""));
  }
  if (facts.iommu_group && facts.iommu_type != "identity") {
    return absl::FailedPreconditionError(absl::StrCat(
        name,
        ": an IOMMU translates its addresses, which access=sysfs does not "
        "know: use VFIO, or boot with iommu=pt"));
  }
  return absl::OkStatus();
}

}  // namespace ibemu::hca
