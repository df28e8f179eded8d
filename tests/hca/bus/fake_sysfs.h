// A sysfs of one test's own, with the PCI functions that it plugs in.
#ifndef IBEMU_TESTS_HCA_BUS_FAKE_SYSFS_H_
#define IBEMU_TESTS_HCA_BUS_FAKE_SYSFS_H_

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hca/bus/pci_sysfs.h"
#include "testing/temp_directory.h"

namespace ibemu::hca {

class FakeSysfs {
 public:
  static constexpr char kName[] = "0000:3b:00.0";
  static constexpr size_t kBarSize = 0x2000;

  FakeSysfs() { Plug(kName); }

  std::string root() const { return directory_.path(); }
  PciSysfs sysfs() const { return PciSysfs(directory_.path()); }
  std::string Path(std::string_view name, std::string_view file) const {
    return directory_.path() + "/bus/pci/devices/" + std::string(name) + "/" +
           std::string(file);
  }

  // A ConnectX-3 with two memory BARs and one of I/O ports.
  void Plug(const std::string& name, std::string_view class_code = "0x020700") {
    std::filesystem::create_directories(Path(name, ""));
    Write(name, "vendor", "0x15b3\n");
    Write(name, "device", "0x1003\n");
    Write(name, "class", std::string(class_code) + "\n");
    Write(name, "resource",
          "0x00000000f0000000 0x00000000f0001fff 0x0000000000140204\n"
          "0x0000000000001000 0x0000000000001fff 0x0000000000040101\n"
          "0x00000000e0000000 0x00000000e0001fff 0x000000000014220c\n"
          "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
          "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
          "0x0000000000000000 0x0000000000000000 0x0000000000000000\n");
    Write(name, "enable", "0\n");
    Write(name, "config", std::string(256, '\0'));
    Write(name, "resource0", std::string(kBarSize, '\0'));
  }

  void Write(std::string_view name, std::string_view file,
             std::string_view text) {
    std::ofstream(Path(name, file), std::ios::binary) << text;
  }

  void Bind(std::string_view driver, std::string_view name = kName) {
    std::filesystem::remove(Path(name, "driver"));
    std::filesystem::create_symlink("../../drivers/" + std::string(driver),
                                    Path(name, "driver"));
  }

  // A ConnectX-3's.
  void MakeVirtual() {
    Write(kName, "device", "0x1004\n");
    std::filesystem::create_symlink("../0000:3b:00.1", Path(kName, "physfn"));
  }

  // All of them become the members of one group.
  void Group(int number, const std::vector<std::string>& names,
             std::string_view type = "DMA") {
    namespace fs = std::filesystem;
    const std::string group =
        absl::StrCat(root(), "/kernel/iommu_groups/", number);
    fs::create_directories(group + "/devices");
    std::ofstream(group + "/type") << type << "\n";
    for (const std::string& name : names) {
      fs::create_symlink(Path(name, ""),
                         absl::StrCat(group, "/devices/", name));
      fs::create_symlink(group, Path(name, "iommu_group"));
    }
  }

 private:
  testing::TempDirectory directory_;
};

inline PciAddress FakeAddress() { return *PciAddress::Parse(FakeSysfs::kName); }

}  // namespace ibemu::hca

#endif  // IBEMU_TESTS_HCA_BUS_FAKE_SYSFS_H_
