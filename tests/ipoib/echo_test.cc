// Pings, byte for byte.
#include "ipoib/echo.h"

#include <gtest/gtest.h>

#include "ipoib/wire/checksum.h"
#include "ipoib/wire/hardware_address.h"
#include "ipoib/wire/ip_headers.h"
#include "tests/ipoib/packets.h"

namespace ibemu::ipoib {
namespace {

const wire::IpNetwork kOwn[] = {{kIpTwo, 16}, {kIp6Two, 64}};

TEST(EchoTest, RequestsToOwnAddressesAreAnswered) {
  EXPECT_EQ(AnswerEcho(FromHex(kEchoRequest), kOwn), FromHex(kEchoReply));
  EXPECT_EQ(AnswerEcho(FromHex(kEchoRequest6), kOwn), FromHex(kEchoReply6));
}

TEST(EchoTest, RepliesAndOthersRequestsAreNotAnswered) {
  EXPECT_FALSE(AnswerEcho(FromHex(kEchoReply), kOwn));
  EXPECT_FALSE(AnswerEcho(FromHex(kEchoReply6), kOwn));
  const wire::IpNetwork others[] = {{kIpOne, 16}, {kIp6One, 64}};
  EXPECT_FALSE(AnswerEcho(FromHex(kEchoRequest), others));
  EXPECT_FALSE(AnswerEcho(FromHex(kEchoRequest6), others));
  EXPECT_FALSE(AnswerEcho(FromHex(kArpRequest), kOwn));
}

TEST(EchoTest, WhatIsCutShortIsNotAnswered) {
  for (const auto hex : {kEchoRequest, kEchoRequest6}) {
    const std::vector<std::byte> whole = FromHex(hex);
    for (size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(AnswerEcho(std::span(whole).first(size), kOwn)) << size;
    }
  }
}

TEST(EchoTest, WhatIsDamagedIsNotAnswered) {
  const std::vector<std::byte> sound = FromHex(kEchoRequest);
  for (size_t offset = 4; offset < sound.size(); ++offset) {
    std::vector<std::byte> wrong = sound;
    wrong[offset] ^= std::byte{1};
    EXPECT_FALSE(AnswerEcho(wrong, kOwn)) << offset;
  }
}

constexpr size_t kIpHeader = wire::kBytes<Encapsulation>;

// Whether a request is answered that has this in its header, with the checksum
// of that.
template <auto kField>
bool IsAnsweredWith(auto value) {
  std::vector<std::byte> packet = FromHex(kEchoRequest);
  const auto header =
      std::span(packet).subspan(kIpHeader, wire::kBytes<Ipv4Header>);
  wire::Put<kField>(header, value);
  wire::Put<&Ipv4Header::checksum>(header, 0);
  wire::Put<&Ipv4Header::checksum>(header, Checksum(header));
  return AnswerEcho(packet, kOwn).has_value();
}

TEST(EchoTest, SoundPacketsOfOtherKindsAreNotAnswered) {
  EXPECT_TRUE(IsAnsweredWith<&Ipv4Header::time_to_live>(1));
  EXPECT_FALSE(IsAnsweredWith<&Ipv4Header::version>(6));
  EXPECT_FALSE(IsAnsweredWith<&Ipv4Header::header_words>(4));
  EXPECT_FALSE(IsAnsweredWith<&Ipv4Header::total_bytes>(19));
  EXPECT_FALSE(IsAnsweredWith<&Ipv4Header::total_bytes>(34));
  EXPECT_FALSE(IsAnsweredWith<&Ipv4Header::flags>(1));
  EXPECT_FALSE(IsAnsweredWith<&Ipv4Header::fragment_offset>(1));
  EXPECT_FALSE(IsAnsweredWith<&Ipv4Header::protocol>(IpProtocol::kIcmpv6));
}

TEST(EchoTest, SourcesThatAreNoHostAreNotAnswered) {
  for (const uint32_t source : {0x00000000U, 0xe0000001U, 0xffffffffU}) {
    EXPECT_FALSE(IsAnsweredWith<&Ipv4Header::source>(source)) << source;
  }
}

// The checksum of an ICMPv6 message is not of these fields.
template <auto kField>
bool IsAnsweredWith6(auto value) {
  std::vector<std::byte> packet = FromHex(kEchoRequest6);
  wire::Put<kField>(std::span(packet).subspan(kIpHeader), value);
  return AnswerEcho(packet, kOwn).has_value();
}

TEST(EchoTest, SoundPacketsOfIpv6OfOtherKindsAreNotAnswered) {
  EXPECT_TRUE(IsAnsweredWith6<&Ipv6Header::hop_limit>(1));
  EXPECT_FALSE(IsAnsweredWith6<&Ipv6Header::version>(4));
  EXPECT_FALSE(IsAnsweredWith6<&Ipv6Header::next_header>(IpProtocol::kIcmp));
  EXPECT_FALSE(IsAnsweredWith6<&Ipv6Header::payload_bytes>(0xffff));
}

TEST(EchoTest, WhatFollowsThePacketIsIgnored) {
  std::vector<std::byte> padded = FromHex(kEchoRequest);
  padded.resize(padded.size() + 5);
  EXPECT_EQ(AnswerEcho(padded, kOwn), FromHex(kEchoReply));
}

}  // namespace
}  // namespace ibemu::ipoib
