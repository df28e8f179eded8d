#include "daemon/words/partition_text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ibemu::daemon {
namespace {

TEST(PartitionTextTest, TheBitOfFullMembersDoesNotCount) {
  for (const char* text : {"1", "0001", "8001", "0x8001", "0X1"}) {
    EXPECT_EQ(ParsePartition(text).value_or(0), 1) << text;
  }
  EXPECT_EQ(ParsePartition("FFFF").value_or(0), 0x7fff);
  EXPECT_EQ(PartitionText(1), "8001");
  EXPECT_EQ(PartitionText(0x7fff), "ffff");
}

TEST(PartitionTextTest, WhatIsNoPartitionIsRefused) {
  for (const char* text :
       {"", "0", "8000", "10001", "80g1", "-1", "8001 8002"}) {
    EXPECT_EQ(ParsePartition(text).status().code(),
              absl::StatusCode::kInvalidArgument)
        << text;
  }
}

}  // namespace
}  // namespace ibemu::daemon
