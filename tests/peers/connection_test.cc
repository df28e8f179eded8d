#include "peers/connection.h"

#include <string>

#include "gtest/gtest.h"

namespace ibemu::peers {
namespace {

TEST(ConnectionTest, AnAddressMayLackItsPortOrItsHost) {
  EXPECT_EQ(AddressIn("head:1", "").value(), "head:1");
  EXPECT_EQ(AddressIn("head", "").value(), "head:7471");
  EXPECT_EQ(AddressIn("7472", "[::]").value(), "[::]:7472");
  EXPECT_EQ(AddressIn(":7472", "[::]").value(), "[::]:7472");
  EXPECT_EQ(AddressIn("10.0.0.1", "[::]").value(), "10.0.0.1:7471");
  EXPECT_EQ(AddressIn("10.0.0.1:0", "[::]").value(), "10.0.0.1:0");
  EXPECT_EQ(AddressIn("", "[::]").value(), "[::]:7471");
  EXPECT_EQ(AddressIn("[fd00::1]", "").value(), "[fd00::1]:7471");
  EXPECT_EQ(AddressIn("[fd00::1]:0", "").value(), "[fd00::1]:0");
}

TEST(ConnectionTest, WhatIsNoAddressIsRefusedWithAnExample) {
  for (const char* const text :
       {"head:x", "head:-1", "head:65536", "a:b:c", "fd00::1", "[fd00::1",
        "[fd00::1:1", "fd00]:1"}) {
    const auto address = AddressIn(text, "[::]");
    EXPECT_TRUE(absl::IsInvalidArgument(address.status())) << text;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(AddressIn(":7471", "").status()));
  EXPECT_EQ(
      AddressIn("head:x", "").status().message(),
      "\"head:x\" is no address and port: HOST:PORT or [ADDRESS]:PORT, as "
      "in head:7471");
}

}  // namespace
}  // namespace ibemu::peers
