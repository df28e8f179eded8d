#include "daemon/words/port_text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ibemu::daemon {
namespace {

TEST(PortTextTest, ANumberFollowsTheLastSlash) {
  const absl::StatusOr<PortText> port = ParsePort("rack 1/sw2/36");
  ASSERT_TRUE(port.ok()) << port.status();
  EXPECT_EQ(port->node, "rack 1/sw2");
  EXPECT_EQ(port->port, 36);
}

TEST(PortTextTest, WhatNamesNoPortIsRefused) {
  for (const char* text : {"", "sw1", "sw1/", "sw1/x", "sw1/99999999999"}) {
    EXPECT_THAT(std::string(ParsePort(text).status().message()),
                ::testing::HasSubstr("names no port"))
        << text;
  }
}

}  // namespace
}  // namespace ibemu::daemon
