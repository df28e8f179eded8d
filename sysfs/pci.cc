#include "sysfs/pci.h"

#include <array>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "sysfs/entries.h"

namespace ibemu::sysfs {
namespace {

constexpr std::string_view kDomain = "1bed";
constexpr char kBusDevices[] = "bus/pci/devices";
// BAR 0 of slot 0.  Far above any memory; the BARs of the other slots follow.
constexpr uint64_t kFirstBar = 0x3f'0000'0000'0000;

uint64_t BarAddress(const ProfileFacts& facts, int slot) {
  return kFirstBar + static_cast<uint64_t>(slot) * facts.bar_size;
}

std::string BusPath() { return absl::StrFormat("devices/pci%s:00", kDomain); }

std::string DriverPath(const ProfileFacts& facts) {
  return absl::StrFormat("bus/pci/drivers/%s", facts.driver);
}

// Returns a mask of CPUs: "3", or "ff,ffffffff" for 40, 32 bits a word as %*pb
// prints them.
std::string CpuMask(int count) {
  std::vector<std::string> words;
  const int top = (count - 1) / 32;
  const uint32_t first = ~uint32_t{0} >> (31 - (count - 1) % 32);
  const int digits = (count - 1) % 32 / 4 + 1;
  words.push_back(absl::StrFormat("%0*x", digits, first));
  for (int word = 0; word < top; ++word) words.push_back("ffffffff");
  return absl::StrJoin(words, ",");
}

std::string CpuList(int count) {
  return count == 1 ? "0" : absl::StrCat("0-", count - 1);
}

std::string LinkSpeed(int generation) {
  constexpr std::array<std::string_view, 6> kSpeeds = {"2.5",  "5.0",  "8.0",
                                                       "16.0", "32.0", "64.0"};
  return absl::StrFormat("%s GT/s PCIe", kSpeeds[generation - 1]);
}

std::string Modalias(const ProfileFacts& facts) {
  return absl::StrFormat("pci:v%08Xd%08Xsv%08Xsd%08Xbc%02Xsc%02Xi%02X",
                         facts.vendor, facts.device, facts.subsystem_vendor,
                         facts.subsystem_device, facts.pci_class >> 16,
                         facts.pci_class >> 8 & 0xff, facts.pci_class & 0xff);
}

std::string Uevent(const ProfileFacts& facts, int slot) {
  return absl::StrFormat(
      "DRIVER=%s\nPCI_CLASS=%04X\nPCI_ID=%04X:%04X\nPCI_SUBSYS_ID=%04X:%04X\n"
      "PCI_SLOT_NAME=%s\nMODALIAS=%s",
      facts.driver, facts.pci_class, facts.vendor, facts.device,
      facts.subsystem_vendor, facts.subsystem_device, PciAddress(slot),
      Modalias(facts));
}

// Returns the lines of `resource`, for BAR 0 to 5 and the ROM: start, end and
// the kernel's IORESOURCE_* flags.
std::string Resources(const ProfileFacts& facts, int slot) {
  constexpr uint64_t kMemory64 = 0x140204, kPrefetch = 0x2008;
  const uint64_t start = BarAddress(facts, slot);
  std::vector<std::string> lines(
      7, absl::StrFormat("0x%016x 0x%016x 0x%016x", 0, 0, 0));
  lines[0] = absl::StrFormat(
      "0x%016x 0x%016x 0x%016x", start, start + facts.bar_size - 1,
      kMemory64 | (facts.bar_prefetchable ? kPrefetch : 0));
  return absl::StrJoin(lines, "\n");
}

void Put(std::string& config, size_t offset, int bytes, uint64_t value) {
  for (int i = 0; i < bytes; ++i, value >>= 8) {
    config[offset + i] = static_cast<char>(value & 0xff);
  }
}

}  // namespace

std::string PciAddress(int slot) {
  return absl::StrFormat("%s:00:%02x.0", kDomain, slot);
}

std::string PciPath(int slot) {
  return absl::StrCat(BusPath(), "/", PciAddress(slot));
}

// PCI 3.0 §6.1, PCI Power Management 1.2 §3.2, PCI Express 3.0 §7.8.
std::string PciConfig(const ProfileFacts& facts, int slot) {
  constexpr size_t kPower = 0x40, kExpress = 0x60;
  std::string config(256, '\0');

  Put(config, 0x00, 2, facts.vendor);
  Put(config, 0x02, 2, facts.device);
  Put(config, 0x04, 2, 0x0406);  // memory, bus master, no INTx
  Put(config, 0x06, 2, 0x0010);  // has capabilities
  Put(config, 0x08, 1, facts.pci_revision);
  Put(config, 0x09, 3, facts.pci_class);
  Put(config, 0x0c, 1, 16);  // cache line, in units of 4 bytes
  Put(config, 0x10, 8,
      BarAddress(facts, slot) | (facts.bar_prefetchable ? 0xc : 0x4));
  Put(config, 0x2c, 2, facts.subsystem_vendor);
  Put(config, 0x2e, 2, facts.subsystem_device);
  Put(config, 0x34, 1, kPower);
  Put(config, 0x3c, 2, 0x0100);  // INTA#, not routed

  Put(config, kPower, 2, kExpress << 8 | 0x01);
  Put(config, kPower + 2, 2, 0x0003);  // version 1.2

  const unsigned link =
      static_cast<unsigned>(facts.link_generation | facts.link_width << 4);
  Put(config, kExpress, 2, 0x0010);      // the last capability
  Put(config, kExpress + 2, 2, 0x0002);  // version 2, endpoint
  Put(config, kExpress + 4, 4, 0x8fc1);  // payload to 256 bytes, ...
  Put(config, kExpress + 8, 2, 0x2830);  // payload 256, read request 512
  Put(config, kExpress + 0x0c, 4, link);
  Put(config, kExpress + 0x12, 2, link | 0x1000);  // common clock
  Put(config, kExpress + 0x2c, 4, (2u << facts.link_generation) - 2);
  Put(config, kExpress + 0x30, 2, facts.link_generation);
  return config;
}

void AddPciFunction(Entry& root, const ProfileFacts& facts, int slot,
                    int cpu_count) {
  const std::string address = PciAddress(slot), path = PciPath(slot);
  const auto hex = [](uint32_t value, int digits) {
    return absl::StrFormat("0x%0*x", digits, value);
  };

  Entry& function = Directory(root, path);
  AddLine(function, "vendor", hex(facts.vendor, 4));
  AddLine(function, "device", hex(facts.device, 4));
  AddLine(function, "subsystem_vendor", hex(facts.subsystem_vendor, 4));
  AddLine(function, "subsystem_device", hex(facts.subsystem_device, 4));
  AddLine(function, "class", hex(facts.pci_class, 6));
  AddLine(function, "revision", hex(facts.pci_revision, 2));
  AddLine(function, "modalias", Modalias(facts));
  AddLine(function, "uevent", Uevent(facts, slot));
  AddLine(function, "irq", "0");
  AddLine(function, "enable", "1");
  AddLine(function, "resource", Resources(facts, slot));
  AddLine(function, "numa_node", "-1");
  AddLine(function, "local_cpus", CpuMask(cpu_count));
  AddLine(function, "local_cpulist", CpuList(cpu_count));
  for (std::string_view which : {"current", "max"}) {
    AddLine(function, absl::StrFormat("%s_link_speed", which),
            LinkSpeed(facts.link_generation));
    AddLine(function, absl::StrFormat("%s_link_width", which),
            absl::StrCat(facts.link_width));
  }
  Entry& config = AddText(function, "config",
                          [config = PciConfig(facts, slot)] { return config; });
  config.size = 256;

  const std::string driver = DriverPath(facts);
  AddLink(root, absl::StrCat(path, "/driver"), driver);
  AddLink(root, absl::StrCat(path, "/subsystem"), "bus/pci");
  AddLink(root, absl::StrCat(driver, "/", address), path);
  AddLink(root, absl::StrCat(kBusDevices, "/", address), path);
}

// The links on the bus stay, dangling, but are not listed.  An overlay joins
// them with the machine's own, and takes a name that has disappeared from its
// lower layer for a stale handle for ever (ovl_revalidate_real() in
// fs/overlayfs/super.c).
void RemovePciFunction(Entry& root, const ProfileFacts& facts, int slot) {
  const std::string address = PciAddress(slot);
  Remove(root, PciPath(slot));
  for (const std::string& path :
       {std::string(kBusDevices), DriverPath(facts)}) {
    Directory(root, absl::StrCat(path, "/", address)).listed = false;
  }
}

std::vector<std::string> PciDirectories(const ProfileFacts& facts) {
  return {BusPath(), kBusDevices, DriverPath(facts)};
}

}  // namespace ibemu::sysfs
