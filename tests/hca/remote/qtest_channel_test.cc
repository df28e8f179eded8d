#include "hca/remote/qtest_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "tests/hca/remote/fake_qemu.h"

namespace ibemu::hca::remote {
namespace {

using ::testing::HasSubstr;

class QtestChannelTest : public ::testing::Test {
 protected:
  QtestChannelTest() : QtestChannelTest(SocketPair()) {}

  void Say(std::string_view text) {
    SendTo(qemu_.get(), std::as_bytes(std::span(text)));
  }

  UniqueFd qemu_;
  QtestChannel channel_;

 private:
  explicit QtestChannelTest(std::pair<UniqueFd, UniqueFd> ends)
      : qemu_(std::move(ends.second)), channel_(std::move(ends.first)) {}
};

TEST_F(QtestChannelTest, WritesWithoutWaiting) {
  ASSERT_TRUE(channel_.Write32(0xfee00000, 0x4021).ok());
  ASSERT_TRUE(channel_.Write32(0xfee01000, 0).ok());
  EXPECT_EQ(ReceiveFrom(qemu_.get()),
            "writel 0xfee00000 0x4021\nwritel 0xfee01000 0\n");
  Say("OK\nOK\n");
  EXPECT_TRUE(channel_.OnReadable().ok());
}

TEST_F(QtestChannelTest, ReadsWhatIsAnsweredAfterAllWrites) {
  ASSERT_TRUE(channel_.Write32(0xfee00000, 1).ok());
  Say("OK\nOK 0x000000000badcafe\n");
  const auto value = channel_.Read64(0xfed90020);
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(*value, 0xbadcafeu);
  EXPECT_THAT(ReceiveFrom(qemu_.get()), HasSubstr("readq 0xfed90020\n"));
}

TEST_F(QtestChannelTest, ReadsHalfAsMuchToo) {
  Say("OK 0x00000000c0000000\n");
  const auto value = channel_.Read32(0xfed9001c);
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(*value, 0xc0000000u);
  EXPECT_EQ(ReceiveFrom(qemu_.get()), "readl 0xfed9001c\n");
}

TEST_F(QtestChannelTest, AnAnswerMayComeInPieces) {
  ASSERT_TRUE(channel_.Write32(0, 0).ok());
  Say("O");
  ASSERT_TRUE(channel_.OnReadable().ok());
  Say("K\n");
  ASSERT_TRUE(channel_.OnReadable().ok());
  Say("OK\n");
  EXPECT_FALSE(channel_.OnReadable().ok()) << "nobody asked for a second";
}

TEST_F(QtestChannelTest, WhatQemuDoesNotTakeWaits) {
  int count = 0;
  absl::Status status;
  while (count < 1'000'000 && status.ok()) {
    status = channel_.Write32(0xfee00000, 0x4000);
    if (status.ok()) ++count;
  }
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  std::string taken;
  for (std::string more = "x"; !more.empty();) {
    more = ReceiveFrom(qemu_.get());
    taken += more;
    EXPECT_TRUE(channel_.OnReadable().ok());
  }
  const std::string line = "writel 0xfee00000 0x4000\n";
  EXPECT_EQ(taken.size(), static_cast<size_t>(count) * line.size());
}

TEST_F(QtestChannelTest, TellsThatQemuHasGone) {
  qemu_.Reset();
  EXPECT_TRUE(absl::IsUnavailable(channel_.OnReadable()));
  EXPECT_TRUE(absl::IsUnavailable(channel_.Write32(0, 0)));
  EXPECT_TRUE(absl::IsUnavailable(channel_.Read32(0).status()));
}

TEST_F(QtestChannelTest, TellsOfAnAnswerThatIsNone) {
  ASSERT_TRUE(channel_.Write32(0, 0).ok());
  Say("FAIL Unknown command\n");
  EXPECT_THAT(std::string(channel_.OnReadable().message()),
              HasSubstr("FAIL Unknown command"));
}

TEST_F(QtestChannelTest, TellsOfAValueThatIsNone) {
  Say("OK\n");
  EXPECT_FALSE(channel_.Read64(0).ok());
  Say("OK zebra\n");
  EXPECT_THAT(std::string(channel_.Read64(0).status().message()),
              HasSubstr("zebra"));
}

TEST_F(QtestChannelTest, ALineHasAnEnd) {
  Say(std::string(9000, 'x'));
  EXPECT_FALSE(channel_.OnReadable().ok());
}

}  // namespace
}  // namespace ibemu::hca::remote
