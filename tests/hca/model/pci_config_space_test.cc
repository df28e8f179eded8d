#include "hca/model/pci_config_space.h"

#include <gtest/gtest.h>
#include <linux/pci_regs.h>

#include <cstddef>
#include <cstdint>

namespace ibemu::hca::model {
namespace {

constexpr PciIdentity kIdentity = {.vendor = 0x15b3,
                                   .device = 0x1003,
                                   .subsystem_vendor = 0x15b3,
                                   .subsystem = 0x0051,
                                   .class_code = 0x028000,
                                   .revision = 1};

class PciConfigSpaceTest : public ::testing::Test {
 protected:
  PciConfigSpaceTest() {
    space_.AddMemoryBar(0, 1 << 20);
    space_.AddMemoryBar(2, 8 << 20);
    space_.AddPciExpress({.speed = 3, .width = 8});
    space_.AddMsix(
        {.bar = 0, .table_offset = 0x7c000, .pending_offset = 0x7d000}, 32);
  }

  // Where the list of capabilities has `id`; 0: it has not.
  size_t Find(uint32_t id) const {
    size_t place = space_.Read(PCI_CAPABILITY_LIST, 1);
    while (place != 0 && space_.Read(place, 1) != id) {
      place = space_.Read(place + PCI_CAP_LIST_NEXT, 1);
    }
    return place;
  }

  PciConfigSpace space_{kIdentity};
};

TEST_F(PciConfigSpaceTest, ShowsWhoItIs) {
  EXPECT_EQ(space_.Read(PCI_VENDOR_ID, 4), 0x100315b3u);
  EXPECT_EQ(space_.Read(PCI_REVISION_ID, 4), 0x02800001u);
  EXPECT_EQ(space_.Read(PCI_CLASS_DEVICE, 2), 0x0280u);
  EXPECT_EQ(space_.Read(PCI_SUBSYSTEM_VENDOR_ID, 4), 0x005115b3u);
  EXPECT_EQ(space_.Read(PCI_HEADER_TYPE, 1), 0u);
  EXPECT_EQ(space_.Read(PCI_INTERRUPT_PIN, 1), 0u);
}

TEST_F(PciConfigSpaceTest, WhoItIsCantBeWritten) {
  space_.Write(PCI_VENDOR_ID, 4, 0);
  EXPECT_EQ(space_.Read(PCI_VENDOR_ID, 4), 0x100315b3u);
}

TEST_F(PciConfigSpaceTest, OnesWrittenToABarTellItsSize) {
  space_.Write(PCI_BASE_ADDRESS_0, 4, 0xffffffff);
  space_.Write(PCI_BASE_ADDRESS_2, 4, 0xffffffff);
  EXPECT_EQ(space_.Read(PCI_BASE_ADDRESS_0, 4), 0xfff00000u);
  EXPECT_EQ(space_.Read(PCI_BASE_ADDRESS_2, 4), 0xff800000u);
  EXPECT_EQ(space_.BarSize(0), 1u << 20);
}

TEST_F(PciConfigSpaceTest, ABarThatIsNotThereStaysZero) {
  space_.Write(PCI_BASE_ADDRESS_1, 4, 0xffffffff);
  EXPECT_EQ(space_.Read(PCI_BASE_ADDRESS_1, 4), 0u);
  EXPECT_EQ(space_.BarSize(1), 0u);
  EXPECT_EQ(space_.BarSize(6), 0u);
  EXPECT_EQ(space_.BarSize(-1), 0u);
}

TEST_F(PciConfigSpaceTest, ABarIsWhereItWasPut) {
  space_.Write(PCI_BASE_ADDRESS_2, 4, 0xfe123456);
  EXPECT_EQ(space_.Read(PCI_BASE_ADDRESS_2, 4) & ~0xfu, 0xfe000000u);
}

TEST_F(PciConfigSpaceTest, TheCommandRegisterOpensMemoryAndBus) {
  EXPECT_FALSE(space_.bus_master());
  space_.Write(PCI_COMMAND, 2, 0xffff);
  EXPECT_NE(space_.Read(PCI_COMMAND, 2) & PCI_COMMAND_MEMORY, 0u);
  EXPECT_TRUE(space_.bus_master());
  EXPECT_EQ(space_.Read(PCI_COMMAND, 2) & PCI_COMMAND_IO, 0u);
}

TEST_F(PciConfigSpaceTest, ItsCapabilitiesAreAList) {
  EXPECT_NE(space_.Read(PCI_STATUS, 2) & PCI_STATUS_CAP_LIST, 0u);
  const size_t express = Find(PCI_CAP_ID_EXP);
  ASSERT_NE(express, 0u);
  EXPECT_EQ(space_.Read(express + PCI_EXP_LNKSTA, 2), 0x83u);
  EXPECT_EQ(space_.Read(express + PCI_EXP_LNKCAP2, 4), 0xeu);
  const size_t msix = Find(PCI_CAP_ID_MSIX);
  ASSERT_NE(msix, 0u);
  EXPECT_EQ(space_.Read(msix + PCI_MSIX_FLAGS, 2) & PCI_MSIX_FLAGS_QSIZE, 31u);
  EXPECT_EQ(space_.Read(msix + PCI_MSIX_TABLE, 4), 0x7c000u);
  EXPECT_EQ(space_.Read(msix + PCI_MSIX_PBA, 4), 0x7d000u);
  EXPECT_EQ(Find(PCI_CAP_ID_PM), 0u);
}

TEST_F(PciConfigSpaceTest, MsixIsEnabledAndMaskedInItsCapability) {
  const size_t flags = Find(PCI_CAP_ID_MSIX) + PCI_MSIX_FLAGS;
  space_.Write(flags, 2, PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
  EXPECT_TRUE(space_.msix_enabled());
  EXPECT_TRUE(space_.msix_all_masked());
  space_.Write(flags, 2, 0);
  EXPECT_FALSE(space_.msix_enabled());
  EXPECT_FALSE(space_.msix_all_masked());
}

TEST_F(PciConfigSpaceTest, AFunctionLevelResetIsAskedForOnceAndReadsZero) {
  const size_t control = Find(PCI_CAP_ID_EXP) + PCI_EXP_DEVCTL;
  EXPECT_FALSE(space_.TakeFunctionLevelReset());
  space_.Write(control, 2, PCI_EXP_DEVCTL_BCR_FLR);
  EXPECT_EQ(space_.Read(control, 2) & PCI_EXP_DEVCTL_BCR_FLR, 0u);
  EXPECT_TRUE(space_.TakeFunctionLevelReset());
  EXPECT_FALSE(space_.TakeFunctionLevelReset());
}

TEST_F(PciConfigSpaceTest, AResetForgetsWhatSoftwareWrote) {
  space_.Write(PCI_COMMAND, 2, 0xffff);
  space_.Write(PCI_BASE_ADDRESS_0, 4, 0xfe000000);
  space_.Reset();
  EXPECT_EQ(space_.Read(PCI_COMMAND, 2), 0u);
  EXPECT_EQ(space_.Read(PCI_BASE_ADDRESS_0, 4) & PCI_BASE_ADDRESS_MEM_MASK, 0u);
  EXPECT_EQ(space_.BarSize(0), 1u << 20);
}

TEST_F(PciConfigSpaceTest, BeyondTheLastByteNobodyAnswers) {
  space_.Write(254, 4, 0);
  EXPECT_EQ(space_.Read(254, 4), 0xffffffffu);
  EXPECT_EQ(space_.Read(256, 1), 0xffu);
}

}  // namespace
}  // namespace ibemu::hca::model
