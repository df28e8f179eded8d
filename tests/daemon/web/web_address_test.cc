#include "daemon/web/web_address.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ibemu::daemon {
namespace {

using ::testing::HasSubstr;

TEST(WebAddressTest, ReadsTheAddressesOfThisMachine) {
  EXPECT_EQ(WebAddress::Parse("127.0.0.1:8080")->Text(), "127.0.0.1:8080");
  EXPECT_EQ(WebAddress::Parse("localhost:1")->Text(), "127.0.0.1:1");
  EXPECT_EQ(WebAddress::Parse("[::1]:65535")->Text(), "[::1]:65535");
  EXPECT_EQ(WebAddress::Parse("127.0.0.1:0")->port, 0);
}

TEST(WebAddressTest, RefusesOthers) {
  for (const char* text : {"0.0.0.0:80", "192.0.2.1:80", "example.org:80",
                           "[::]:80", ":80", "127.0.0.1.example.org:80"}) {
    const auto address = WebAddress::Parse(text);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_THAT(address.status().message(), HasSubstr("only this machine"));
  }
}

TEST(WebAddressTest, NeedsAPort) {
  for (const char* text : {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
                           "127.0.0.1:-1", "127.0.0.1:8o", "[::1]", "[::1"}) {
    const auto address = WebAddress::Parse(text);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_THAT(address.status().message(), HasSubstr("as in 127.0.0.1:8080"));
  }
}

TEST(WebAddressTest, KnowsItsOwnNames) {
  for (const char* host : {"127.0.0.1", "127.0.0.1:80", "localhost:9",
                           "localhost", "[::1]:80", "[::1]"}) {
    EXPECT_TRUE(IsThisMachine(host)) << host;
  }
  for (const char* host : {"", "example.org", "localhost.example.org:80",
                           "127.0.0.1.example.org", "[::1].example.org"}) {
    EXPECT_FALSE(IsThisMachine(host)) << host;
  }
}

}  // namespace
}  // namespace ibemu::daemon
