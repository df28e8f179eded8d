#include "sysfs/format.h"

#include <gtest/gtest.h>

namespace ibemu::sysfs {
namespace {

namespace width = mad::link_width;

std::string Rate(uint8_t width, uint8_t speed, uint8_t ext = 0,
                 uint8_t ext2 = 0, bool fdr10 = false) {
  mad::PortInfo info;
  info.link_width_active = width;
  info.link_speed_active = speed;
  info.link_speed_ext_active = ext;
  info.link_speed_ext_active2 = ext2;
  return FormatRate(info, fdr10).value_or("error");
}

TEST(FormatRateTest, KnowsEverySpeed) {
  EXPECT_EQ(Rate(width::k4x, 1), "10 Gb/sec (4X SDR)");
  EXPECT_EQ(Rate(width::k4x, 2), "20 Gb/sec (4X DDR)");
  EXPECT_EQ(Rate(width::k4x, 4), "40 Gb/sec (4X QDR)");
  EXPECT_EQ(Rate(width::k4x, 4, 0, 0, true), "40 Gb/sec (4X FDR10)");
  EXPECT_EQ(Rate(width::k4x, 4, 1), "56 Gb/sec (4X FDR)");
  EXPECT_EQ(Rate(width::k4x, 4, 2), "100 Gb/sec (4X EDR)");
  EXPECT_EQ(Rate(width::k4x, 4, 4), "200 Gb/sec (4X HDR)");
  EXPECT_EQ(Rate(width::k4x, 4, 8), "400 Gb/sec (4X NDR)");
  EXPECT_EQ(Rate(width::k4x, 4, 8, 1), "800 Gb/sec (4X XDR)");
}

TEST(FormatRateTest, KnowsEveryWidth) {
  EXPECT_EQ(Rate(width::k1x, 1), "2.5 Gb/sec (1X SDR)");
  EXPECT_EQ(Rate(width::k2x, 4, 4), "100 Gb/sec (2X HDR)");
  EXPECT_EQ(Rate(width::k8x, 2), "40 Gb/sec (8X DDR)");
  EXPECT_EQ(Rate(width::k12x, 4), "120 Gb/sec (12X QDR)");
}

TEST(FormatRateTest, PrintsHalvesOnlyWhereThereAreSome) {
  EXPECT_EQ(Rate(width::k1x, 2), "5 Gb/sec (1X DDR)");
  EXPECT_EQ(Rate(width::k2x, 1), "5 Gb/sec (2X SDR)");
  EXPECT_EQ(Rate(width::k1x, 4, 1), "14 Gb/sec (1X FDR)");
}

TEST(FormatRateTest, TakesAnUnknownSpeedForSdr) {
  EXPECT_EQ(Rate(width::k4x, 0), "10 Gb/sec (4X SDR)");
}

TEST(FormatRateTest, RefusesWhatIsNotOneWidth) {
  EXPECT_EQ(Rate(0, 1), "error");
  EXPECT_EQ(Rate(width::k1x | width::k4x, 1), "error");
}

TEST(FormatTest, NamesPortStates) {
  EXPECT_EQ(FormatState(0), "0: NOP");
  EXPECT_EQ(FormatState(1), "1: DOWN");
  EXPECT_EQ(FormatState(2), "2: INIT");
  EXPECT_EQ(FormatState(3), "3: ARMED");
  EXPECT_EQ(FormatState(4), "4: ACTIVE");
  EXPECT_EQ(FormatState(5), "5: ACTIVE_DEFER");
  EXPECT_EQ(FormatState(6), "6: UNKNOWN");
}

TEST(FormatTest, NamesPhysicalStates) {
  EXPECT_EQ(FormatPhysicalState(1), "1: Sleep");
  EXPECT_EQ(FormatPhysicalState(2), "2: Polling");
  EXPECT_EQ(FormatPhysicalState(3), "3: Disabled");
  EXPECT_EQ(FormatPhysicalState(4), "4: PortConfigurationTraining");
  EXPECT_EQ(FormatPhysicalState(5), "5: LinkUp");
  EXPECT_EQ(FormatPhysicalState(6), "6: LinkErrorRecovery");
  EXPECT_EQ(FormatPhysicalState(7), "7: Phy Test");
  EXPECT_EQ(FormatPhysicalState(0), "0: <unknown>");
  EXPECT_EQ(FormatPhysicalState(8), "8: <unknown>");
}

TEST(FormatTest, WritesIdentifiersInGroupsOfFourDigits) {
  EXPECT_EQ(FormatGuid(wire::Guid{0xfc6a1c030082db00}), "fc6a:1c03:0082:db00");
  EXPECT_EQ(FormatGid({0xfe80'0000'0000'0000, 0x0002'c903'0000'0001}),
            "fe80:0000:0000:0000:0002:c903:0000:0001");
}

}  // namespace
}  // namespace ibemu::sysfs
