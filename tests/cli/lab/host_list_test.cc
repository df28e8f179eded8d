#include "cli/lab/host_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ibemu::cli {
namespace {

using ::testing::ElementsAre, ::testing::HasSubstr, ::testing::SizeIs;

constexpr size_t kMax = 1000;

TEST(HostListTest, ANameStandsForItself) {
  EXPECT_THAT(*ExpandHostList("node-1", kMax), ElementsAre("node-1"));
}

TEST(HostListTest, EachNumberInBracketsIsAHost) {
  EXPECT_THAT(*ExpandHostList("node-[1-3,7]", kMax),
              ElementsAre("node-1", "node-2", "node-3", "node-7"));
  EXPECT_THAT(*ExpandHostList("rack[08-10]-a", kMax),
              ElementsAre("rack08-a", "rack09-a", "rack10-a"));
  EXPECT_THAT(*ExpandHostList("[5]", kMax), ElementsAre("5"));
}

TEST(HostListTest, WhatIsNoListIsRefused) {
  for (const char* text :
       {"a[", "a]", "a]1[", "a[]", "a[1", "a[1-]", "a[-1]", "a[3-1]", "a[1,]",
        "a[1][2]", "a[[1]]", "a[x]", "a[1-2-3]", "a[+1]", "a[1234567890]"}) {
    EXPECT_THAT(ExpandHostList(text, kMax).status().message(),
                HasSubstr("is written as in \"node-[1-4,7]\""))
        << text;
  }
}

TEST(HostListTest, TooManyHostsAreRefused) {
  EXPECT_THAT(*ExpandHostList("n[1-5]", 5), SizeIs(5));
  EXPECT_EQ(ExpandHostList("n[1-999999999]", 5).status().message(),
            "\"n[1-999999999]\" is more than 5 hosts");
}

}  // namespace
}  // namespace ibemu::cli
