#include "ipoib/multicast_gid.h"

#include <gtest/gtest.h>

namespace ibemu::ipoib {
namespace {

constexpr wire::IpAddress kIpv4Group = wire::IpAddress::Ipv4(0xe0010101);
// ff0e:1:2:3:4:5:6:7
constexpr wire::IpAddress kIpv6Group = wire::IpAddress::Ipv6(
    {0xff, 0x0e, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7});

TEST(MulticastGidTest, TheBroadcastGroupIsThatOfThePartitionsFullMembers) {
  EXPECT_EQ(BroadcastGid(0xffff),
            (wire::Gid{0xff12'401b'ffff'0000, 0xffff'ffff}));
  EXPECT_EQ(BroadcastGid(0x0001), BroadcastGid(0x8001));
}

TEST(MulticastGidTest, AnIpv4GroupHas28BitsOfItsAddress) {
  EXPECT_EQ(GroupGid(kIpv4Group, BroadcastGid(0xffff)),
            (wire::Gid{0xff12'401b'ffff'0000, 0x0001'0101}));
  EXPECT_EQ(GroupGid(wire::IpAddress::Ipv4(0xefffffff), BroadcastGid(0x8001)),
            (wire::Gid{0xff12'401b'8001'0000, 0x0fff'ffff}));
}

TEST(MulticastGidTest, AnIpv6GroupHasTheLast80BitsOfItsAddress) {
  EXPECT_EQ(GroupGid(kIpv6Group, BroadcastGid(0xffff)),
            (wire::Gid{0xff12'601b'ffff'0003, 0x0004'0005'0006'0007}));
}

TEST(MulticastGidTest, RdmaCmHasItsOwnSignature) {
  EXPECT_EQ(GroupGid(kIpv4Group, BroadcastGid(0xffff), GroupOwner::kRdmaCm),
            (wire::Gid{0xff12'4001'ffff'0000, 0x0001'0101}));
  EXPECT_EQ(GroupGid(kIpv6Group, BroadcastGid(0xffff), GroupOwner::kRdmaCm),
            (wire::Gid{0xff12'6001'ffff'0003, 0x0004'0005'0006'0007}));
}

TEST(MulticastGidTest, TheScopeIsThatOfTheBroadcastGroup) {
  EXPECT_EQ(GroupGid(kIpv4Group, {0xff15'401b'ffff'0000, 0xffff'ffff}).prefix,
            0xff15'401b'ffff'0000u);
}

}  // namespace
}  // namespace ibemu::ipoib
