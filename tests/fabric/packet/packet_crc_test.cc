#include "fabric/packet/packet_crc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "wire/packet_headers.h"

namespace ibemu::fabric {
namespace {

// The example of IBA vol 1 §7.8.3: an RDMA WRITE Only of 14 bytes.
std::vector<std::byte> Example() {
  constexpr uint8_t kBytes[] = {
      0x70, 0x12, 0x37, 0x5c, 0x00, 0x0e, 0x17, 0xd2, 0x0a, 0x20, 0x24,
      0x87, 0x00, 0x87, 0xb1, 0xb3, 0x00, 0x0d, 0xec, 0x2a, 0x01, 0x71,
      0x0a, 0x1c, 0x01, 0x5d, 0x40, 0x02, 0x38, 0xf2, 0x7a, 0x05, 0x00,
      0x00, 0x00, 0x0e, 0xbb, 0x88, 0x4d, 0x85, 0xfd, 0x5c, 0xfb, 0xa4,
      0x72, 0x8b, 0xc0, 0x69, 0x0e, 0xd4, 0x00, 0x00};
  const auto bytes = std::as_bytes(std::span(kBytes));
  return {bytes.begin(), bytes.end()};
}

// The same with a GRH.
std::vector<std::byte> GlobalExample() {
  std::vector<std::byte> packet = Example();
  wire::Put<&wire::LocalRouteHeader::next_header>(packet,
                                                  wire::NextHeader::kGrh);
  std::vector<std::byte> grh(wire::kBytes<wire::GlobalRouteHeader>);
  wire::Encode(
      wire::GlobalRouteHeader{.hop_limit = 16, .sgid = {1, 2}, .dgid = {3, 4}},
      grh);
  packet.insert(packet.begin() + 8, grh.begin(), grh.end());
  return packet;
}

TEST(PacketCrcTest, TheSpecificationsExampleHasItsInvariantCrc) {
  // On the wire: 96 25 b7 5a.
  EXPECT_EQ(InvariantCrc(Example()), 0x5ab72596u);
}

TEST(PacketCrcTest, WhatSwitchesMayChangeIsNotCovered) {
  std::vector<std::byte> packet = Example();
  wire::Put<&wire::LocalRouteHeader::vl>(packet, uint8_t{3});
  packet[12] = std::byte{0xc0};  // FECN and BECN
  EXPECT_EQ(InvariantCrc(packet), InvariantCrc(Example()));
  for (const size_t covered : {1u, 3u, 5u, 7u, 9u, 13u, 19u, 50u}) {
    packet = Example();
    packet[covered] ^= std::byte{0x10};
    EXPECT_NE(InvariantCrc(packet), InvariantCrc(Example())) << covered;
  }
}

TEST(PacketCrcTest, WhatRoutersMayChangeIsNotCovered) {
  const uint32_t crc = InvariantCrc(GlobalExample());
  // The LRH; traffic class, flow label, hop limit; FECN and BECN.
  for (const size_t free : {0u, 1u, 3u, 5u, 7u, 9u, 10u, 11u, 15u, 52u}) {
    std::vector<std::byte> packet = GlobalExample();
    packet[free] ^= std::byte{4};
    EXPECT_EQ(InvariantCrc(packet), crc) << free;
  }
  for (const size_t covered : {8u, 12u, 14u, 16u, 47u, 48u, 53u, 90u}) {
    std::vector<std::byte> packet = GlobalExample();
    packet[covered] ^= std::byte{0x10};
    EXPECT_NE(InvariantCrc(packet), crc) << covered;
  }
}

// §7.8.2 bit by bit, without tables: the lowest bit of a byte goes first.
uint16_t VariantCrcByBits(const std::vector<std::byte>& bytes) {
  unsigned crc = 0xffff;  // the highest power of x in bit 15
  for (const std::byte byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      const unsigned in = std::to_integer<unsigned>(byte) >> bit & 1;
      const unsigned out = crc >> 15 & 1;
      crc = crc << 1 & 0xffff;
      if (in != out) crc ^= 0x100b;
    }
  }
  unsigned sent = 0;  // the highest power first, from bit 0 on
  for (int bit = 0; bit < 16; ++bit) sent |= (~crc >> (15 - bit) & 1) << bit;
  return static_cast<uint16_t>(sent);
}

TEST(PacketCrcTest, TheVariantCrcIsThePolynomialOfTheSpecification) {
  std::vector<std::byte> packet = Example();
  for (const uint8_t byte : {0x96, 0x25, 0xb7, 0x5a}) {
    packet.push_back(std::byte{byte});
  }
  EXPECT_EQ(VariantCrc(packet), VariantCrcByBits(packet));
  packet[0] ^= std::byte{0x80};
  EXPECT_EQ(VariantCrc(packet), VariantCrcByBits(packet));
}

}  // namespace
}  // namespace ibemu::fabric
