// ARP and neighbour discovery, byte for byte.
#include "ipoib/neighbor_message.h"

#include <gtest/gtest.h>

#include "tests/ipoib/packets.h"

namespace ibemu::ipoib {
namespace {

using Kind = NeighborMessage::Kind;

struct Example {
  std::string_view hex;
  NeighborMessage message;
};

const Example kExamples[] = {
    {kArpRequest, {Kind::kRequest, kIpOne, kHardwareOne, kIpTwo}},
    {kArpReply, {Kind::kReply, kIpTwo, kHardwareTwo, kIpOne, kHardwareOne}},
    {kSolicitation, {Kind::kRequest, kIp6One, kHardwareOne, kIp6Two}},
    {kAdvertisement, {Kind::kReply, kIp6Two, kHardwareTwo, kIp6One}},
};

TEST(NeighborMessageTest, MessagesAreEncodedAsTheStandardsSay) {
  for (const Example& example : kExamples) {
    EXPECT_EQ(EncodeNeighborMessage(example.message), FromHex(example.hex));
  }
}

TEST(NeighborMessageTest, MessagesAreDecoded) {
  for (const Example& example : kExamples) {
    EXPECT_EQ(DecodeNeighborMessage(FromHex(example.hex)), example.message);
  }
}

TEST(NeighborMessageTest, WhatIsCutShortSaysNothing) {
  for (const Example& example : kExamples) {
    const std::vector<std::byte> whole = FromHex(example.hex);
    for (size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(DecodeNeighborMessage(std::span(whole).first(size)));
    }
  }
}

TEST(NeighborMessageTest, ArpOfAnotherKindSaysNothing) {
  const std::vector<std::byte> sound = FromHex(kArpRequest);
  // Hardware type, protocol, lengths, operation.
  for (const size_t offset : {5u, 6u, 8u, 9u, 11u}) {
    std::vector<std::byte> wrong = sound;
    wrong[offset] ^= std::byte{0x40};
    EXPECT_FALSE(DecodeNeighborMessage(wrong)) << offset;
  }
}

TEST(NeighborMessageTest, DiscoveryWithAnyByteChangedSaysNothing) {
  const std::vector<std::byte> sound = FromHex(kSolicitation);
  constexpr size_t kChecked = 4 + 8;  // from the addresses on
  for (size_t offset = kChecked; offset < sound.size(); ++offset) {
    std::vector<std::byte> wrong = sound;
    wrong[offset] ^= std::byte{1};
    EXPECT_FALSE(DecodeNeighborMessage(wrong)) << offset;
  }
}

TEST(NeighborMessageTest, DiscoveryThatWasForwardedSaysNothing) {
  std::vector<std::byte> packet = FromHex(kSolicitation);
  packet[4 + 7] = std::byte{254};
  EXPECT_FALSE(DecodeNeighborMessage(packet));
}

TEST(NeighborMessageTest, TheSolicitedNodeAddressHasTheLastThreeBytes) {
  auto address = kIp6Two;
  address.bytes[13] = 0xab;
  EXPECT_EQ(SolicitedNodeAddress(address),
            wire::IpAddress::Ipv6(
                {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0xab, 0, 2}));
}

}  // namespace
}  // namespace ibemu::ipoib
