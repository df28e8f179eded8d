#include "hca/bus/pci_sysfs.h"

#include <gtest/gtest.h>

#include <string>

#include "gmock/gmock.h"
#include "testing/mad_builder.h"
#include "tests/hca/bus/fake_sysfs.h"

namespace ibemu::hca {
namespace {

using testing::HasStatusCode;
using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

class PciSysfsTest : public ::testing::Test {
 protected:
  PciFacts Facts() {
    const auto facts = fake_.sysfs().Read(FakeAddress());
    EXPECT_TRUE(facts.ok()) << facts.status();
    return facts.ok() ? *facts : PciFacts{};
  }
  std::string VfioRefusal() {
    const absl::Status status = CheckVfio(Facts());
    EXPECT_EQ(status.code(), kRefused);
    return std::string(status.message());
  }
  std::string SysfsRefusal() {
    const absl::Status status = CheckSysfs(Facts());
    EXPECT_EQ(status.code(), kRefused);
    return std::string(status.message());
  }

  FakeSysfs fake_;
};

TEST_F(PciSysfsTest, ReadsWhatAFunctionIs) {
  fake_.Bind("mlx4_core");
  fake_.Group(7, {FakeSysfs::kName});
  const PciFacts facts = Facts();
  EXPECT_EQ(facts.vendor, 0x15b3);
  EXPECT_EQ(facts.device, 0x1003);
  EXPECT_EQ(facts.driver, "mlx4_core");
  EXPECT_EQ(facts.iommu_group, 7);
  EXPECT_EQ(facts.iommu_type, "DMA");
  EXPECT_FALSE(facts.is_virtual_function);
  EXPECT_TRUE(facts.group.empty());
  EXPECT_EQ(facts.bars[0].start, 0xf0000000u);
  EXPECT_EQ(facts.bars[0].size, 0x2000u);
  EXPECT_TRUE(facts.bars[0].is_memory);
  EXPECT_FALSE(facts.bars[1].is_memory);
  EXPECT_EQ(facts.bars[3].size, 0u);
}

TEST_F(PciSysfsTest, SaysWhichFunctionIsNotThere) {
  const auto facts = fake_.sysfs().Read(*PciAddress::Parse("0000:3c:00.0"));
  EXPECT_THAT(facts, HasStatusCode(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(facts.status().message()),
              HasSubstr("0000:3c:00.0: there is no such PCI function"));
}

TEST_F(PciSysfsTest, SaysWhichFileHasNoNumber) {
  fake_.Write(FakeSysfs::kName, "device", "");
  const auto facts = fake_.sysfs().Read(FakeAddress());
  EXPECT_THAT(facts, HasStatusCode(absl::StatusCode::kUnavailable));
  EXPECT_THAT(std::string(facts.status().message()), HasSubstr("/device:"));
}

TEST_F(PciSysfsTest, LetsVfioHaveWhatIsBoundToIt) {
  fake_.Bind("vfio-pci");
  fake_.Group(7, {FakeSysfs::kName});
  EXPECT_TRUE(CheckVfio(Facts()).ok());
}

TEST_F(PciSysfsTest, RefusesVfioWithoutAnIommu) {
  fake_.Bind("vfio-pci");
  const std::string refusal = VfioRefusal();
  EXPECT_THAT(refusal,
              HasSubstr("\"mkdir -p /etc/default/grub.d && echo "
                        "'GRUB_CMDLINE_LINUX=$GRUB_CMDLINE_LINUX\\ "
                        "intel_iommu=on' > /etc/default/grub.d/iommu.cfg && "
                        "update-grub\", and reboot"));
  EXPECT_THAT(refusal, HasSubstr("or say access=sysfs"));
}

TEST_F(PciSysfsTest, SaysHowAnotherDriverLetsGo) {
  fake_.Bind("mlx4_core");
  fake_.Group(7, {FakeSysfs::kName});
  const std::string refusal = VfioRefusal();
  EXPECT_THAT(refusal, HasSubstr("the driver mlx4_core has it"));
  EXPECT_THAT(refusal, HasSubstr("echo 0000:3b:00.0 > /sys/bus/pci/devices/"
                                 "0000:3b:00.0/driver/unbind"));
  EXPECT_THAT(refusal, HasSubstr("driver_override"));
  EXPECT_THAT(SysfsRefusal(), HasSubstr("driver/unbind"));
}

TEST_F(PciSysfsTest, SaysHowToGiveAnUnboundFunctionToVfio) {
  fake_.Group(7, {FakeSysfs::kName});
  EXPECT_THAT(VfioRefusal(), HasSubstr("echo vfio-pci > /sys/bus/pci/devices/"
                                       "0000:3b:00.0/driver_override"));
}

TEST_F(PciSysfsTest, NamesWhoElseIsInAGroupThatIsNotViable) {
  fake_.Bind("vfio-pci");
  fake_.Plug("0000:3a:00.0", "0x060400");
  fake_.Bind("pcieport", "0000:3a:00.0");
  fake_.Plug("0000:3b:00.1");
  fake_.Plug("0000:3b:00.2");
  fake_.Group(
      7, {FakeSysfs::kName, "0000:3a:00.0", "0000:3b:00.1", "0000:3b:00.2"});
  EXPECT_TRUE(CheckVfio(Facts()).ok()) << "bridges may have drivers";
  fake_.Bind("vfio-pci", "0000:3b:00.1");
  fake_.Bind("e1000e", "0000:3b:00.2");
  const std::string refusal = VfioRefusal();
  EXPECT_THAT(refusal, HasSubstr("group 7 has 0000:3b:00.2"));
  EXPECT_THAT(refusal, HasSubstr("e1000e"));
}

TEST_F(PciSysfsTest, RefusesVirtualFunctions) {
  fake_.Bind("vfio-pci");
  fake_.Group(7, {FakeSysfs::kName});
  fake_.MakeVirtual();
  EXPECT_THAT(VfioRefusal(), HasSubstr("virtual function"));
  EXPECT_THAT(SysfsRefusal(), HasSubstr("virtual function"));
}

TEST_F(PciSysfsTest, RefusesFilesWhereAnIommuTranslates) {
  fake_.Group(7, {FakeSysfs::kName});
  EXPECT_THAT(SysfsRefusal(), HasSubstr("iommu=pt"));
}

TEST_F(PciSysfsTest, AllowsFilesWhereAddressesAreThoseOfTheMachine) {
  EXPECT_TRUE(CheckSysfs(Facts()).ok());
  fake_.Group(7, {FakeSysfs::kName}, "identity");
  EXPECT_TRUE(CheckSysfs(Facts()).ok());
}

}  // namespace
}  // namespace ibemu::hca
