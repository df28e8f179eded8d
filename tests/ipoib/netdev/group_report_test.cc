#include "ipoib/netdev/group_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ipoib/wire/group_management.h"
#include "tests/ipoib/netdev/ip_packets.h"

namespace ibemu::ipoib {
namespace {

using ::testing::ElementsAre;
using Reports = std::optional<std::vector<GroupReport>>;

Reports Read(const std::vector<std::byte>& bytes) {
  const auto packet = ParseIpPacket(bytes);
  EXPECT_TRUE(packet);
  return ReadGroupReports(*packet);
}

TEST(GroupReportTest, JoinsAndLeavesOfLinuxAreUnderstood) {
  EXPECT_THAT(*Read(FromHex(kIgmpJoin)),
              ElementsAre(GroupReport{kGroup, true}));
  EXPECT_THAT(*Read(FromHex(kIgmpLeave)),
              ElementsAre(GroupReport{kGroup, false}));
  EXPECT_THAT(*Read(FromHex(kMldJoin)),
              ElementsAre(GroupReport{kGroup6, true}));
}

TEST(GroupReportTest, OlderReportsAreUnderstood) {
  std::vector<std::byte> packet;
  wire::Append(Ipv4Header{.total_bytes = 28,
                          .protocol = IpProtocol{2},
                          .source = kIpOne.ipv4(),
                          .destination = kGroup.ipv4()},
               packet);
  const size_t start = packet.size();
  wire::Append(IgmpMessage{.header = {.type = 0x16}, .group = kGroup.ipv4()},
               packet);
  EXPECT_THAT(*Read(packet), ElementsAre(GroupReport{kGroup, true}));
  packet[start] = std::byte{0x17};
  EXPECT_THAT(*Read(packet), ElementsAre(GroupReport{kGroup, false}));
  packet[start] = std::byte{0x11};  // a query
  EXPECT_EQ(Read(packet), std::nullopt);

  std::vector<std::byte> packet6;
  wire::Append(Ipv6Header{.payload_bytes = 24,
                          .next_header = IpProtocol::kIcmpv6,
                          .source = kIp6One.bytes,
                          .destination = kGroup6.bytes},
               packet6);
  const size_t start6 = packet6.size();
  wire::Append(MldMessage{.header = {.type = 131}, .group = kGroup6.bytes},
               packet6);
  EXPECT_THAT(*Read(packet6), ElementsAre(GroupReport{kGroup6, true}));
  packet6[start6] = std::byte{132};
  EXPECT_THAT(*Read(packet6), ElementsAre(GroupReport{kGroup6, false}));
  packet6[start6] = std::byte{135};  // a solicitation
  EXPECT_EQ(Read(packet6), std::nullopt);
}

TEST(GroupReportTest, OnlyARecordThatSaysWhetherSomebodyListensCounts) {
  auto packet = FromHex(kIgmpJoin);
  const size_t type = packet.size() - 8;
  packet[type] = std::byte{6};  // BLOCK_OLD_SOURCES
  EXPECT_TRUE(Read(packet)->empty());
  packet[type] = std::byte{99};
  EXPECT_TRUE(Read(packet)->empty());
  packet[type] = std::byte{1};  // MODE_IS_INCLUDE, of no source
  EXPECT_THAT(*Read(packet), ElementsAre(GroupReport{kGroup, false}));
}

TEST(GroupReportTest, MoreRecordsThanThereAreEndWithThePacket) {
  auto packet = FromHex(kIgmpJoin);
  packet[packet.size() - 9] = std::byte{0xff};  // 255 records
  EXPECT_THAT(*Read(packet), ElementsAre(GroupReport{kGroup, true}));
  packet[packet.size() - 6] = std::byte{0xff};  // of 65,280 sources
  EXPECT_THAT(*Read(packet), ElementsAre(GroupReport{kGroup, true}));
}

TEST(GroupReportTest, OtherPacketsAreNone) {
  EXPECT_EQ(Read(PacketIn(kEchoRequest)), std::nullopt);
  EXPECT_EQ(Read(PacketIn(kEchoRequest6)), std::nullopt);
  EXPECT_EQ(Read(UdpPacket(kIpOne, kGroup)), std::nullopt);
}

}  // namespace
}  // namespace ibemu::ipoib
