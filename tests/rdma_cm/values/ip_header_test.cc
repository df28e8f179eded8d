#include "rdma_cm/values/ip_header.h"

#include <array>

#include "gtest/gtest.h"

namespace ibemu::rdma_cm {
namespace {

using Kind = RequestAddresses::Kind;

std::array<std::byte, kIpHeaderSize> Header() {
  std::array<std::byte, kIpHeaderSize> bytes{};
  wire::Encode(
      IpHeader::Of(SocketAddress::Ip(wire::IpAddress::Ipv4(0xc6120002), 40000),
                   SocketAddress::Ip(wire::IpAddress::Ipv4(0xc6120001), 7174)),
      std::span(bytes));
  return bytes;
}

TEST(IpHeaderTest, Ipv4AddressesAreInTheLastFourBytes) {
  const auto bytes = Header();
  EXPECT_EQ(bytes[0], std::byte{0});
  EXPECT_EQ(bytes[1], std::byte{0x40});
  EXPECT_EQ(bytes[2], std::byte{40000 >> 8});
  EXPECT_EQ(bytes[4], std::byte{0});
  EXPECT_EQ(bytes[16], std::byte{198});
  EXPECT_EQ(bytes[19], std::byte{2});
  EXPECT_EQ(bytes[32], std::byte{198});
  EXPECT_EQ(bytes[35], std::byte{1});
}

TEST(IpHeaderTest, IsReadAsItWasWritten) {
  const RequestAddresses addresses = RequestAddresses::Read(Header());
  EXPECT_EQ(addresses.kind, Kind::kIp);
  EXPECT_EQ(addresses.source, wire::IpAddress::Ipv4(0xc6120002));
  EXPECT_EQ(addresses.source_port, 40000);
  EXPECT_EQ(addresses.destination, wire::IpAddress::Ipv4(0xc6120001));
}

TEST(IpHeaderTest, AnotherVersionIsInvalidAndAnotherIpVersionNoHeader) {
  auto bytes = Header();
  bytes[1] = std::byte{0x50};
  EXPECT_EQ(RequestAddresses::Read(bytes).kind, Kind::kIb);
  bytes[0] = std::byte{1};
  EXPECT_EQ(RequestAddresses::Read(bytes).kind, Kind::kInvalid);
  EXPECT_EQ(RequestAddresses::Read({}).kind, Kind::kIb);
}

}  // namespace
}  // namespace ibemu::rdma_cm
