// Pings, byte for byte.
#include "ipoib/echo.h"

#include <gtest/gtest.h>

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

TEST(EchoTest, WhatFollowsThePacketIsIgnored) {
  std::vector<std::byte> padded = FromHex(kEchoRequest);
  padded.resize(padded.size() + 5);
  EXPECT_EQ(AnswerEcho(padded, kOwn), FromHex(kEchoReply));
}

}  // namespace
}  // namespace ibemu::ipoib
