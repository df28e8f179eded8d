#include "fabric/faults/opcode_filter.h"

#include <gtest/gtest.h>

#include <utility>

namespace ibemu::fabric {
namespace {

using verbs::QpType;

OpcodeFilter Parse(std::string_view name) {
  const auto filter = ParseOpcodeFilter(name);
  EXPECT_TRUE(filter.ok()) << filter.status();
  return filter.value_or(OpcodeFilter());
}

// IBA vol 1 table 38.
TEST(OpcodeFilterTest, EachNameIsOneOpcodeOfTheSpecification) {
  const std::pair<const char*, uint8_t> opcodes[] = {
      {"rc-send-first", 0x00},
      {"rc-send-only", 0x04},
      {"rc-send-only-immediate", 0x05},
      {"rc-rdma-write-last", 0x08},
      {"rc-rdma-write-only-immediate", 0x0b},
      {"rc-rdma-read-request", 0x0c},
      {"rc-read-response-first", 0x0d},
      {"rc-read-response-only", 0x10},
      {"rc-acknowledge", 0x11},
      {"rc-atomic-acknowledge", 0x12},
      {"rc-compare-swap", 0x13},
      {"rc-fetch-add", 0x14},
      {"rc-send-last-invalidate", 0x16},
      {"rc-send-only-invalidate", 0x17},
      {"uc-send-middle", 0x21},
      {"uc-rdma-write-only", 0x2a},
      {"ud-send-only", 0x64},
      {"ud-send-only-immediate", 0x65},
  };
  for (const auto& [name, opcode] : opcodes) {
    const OpcodeFilter filter = Parse(name);
    for (int other = 0; other < 256; ++other) {
      EXPECT_EQ(filter.Matches(static_cast<uint8_t>(other)), other == opcode)
          << name << " " << other;
    }
    EXPECT_EQ(NameOf(filter), name);
  }
}

TEST(OpcodeFilterTest, AGroupHasTheOpcodesOfAllServices) {
  const OpcodeFilter send = Parse("send");
  EXPECT_TRUE(send.Matches(0x00) && send.Matches(0x25) && send.Matches(0x64));
  EXPECT_TRUE(send.Matches(0x16) && send.Matches(0x17));
  EXPECT_FALSE(send.Matches(0x06) || send.Matches(0x11) || send.Matches(0x15));
  const OpcodeFilter response = Parse("READ-RESPONSE");
  EXPECT_TRUE(response.Matches(0x0d) && response.Matches(0x10));
  EXPECT_FALSE(response.Matches(0x0c) || response.Matches(0x12));
  EXPECT_TRUE(Parse("any").Matches(0x14) && Parse("any").Matches(0x64));
  for (const char* name :
       {"any", "send", "rdma-write", "read-response", "atomic", "ack"}) {
    EXPECT_EQ(NameOf(Parse(name)), name);
  }
}

TEST(OpcodeFilterTest, AQueuePairHasTheOpcodesOfItsService) {
  EXPECT_TRUE(Parse("ack").IsOf(QpType::kRc));
  EXPECT_FALSE(Parse("ack").IsOf(QpType::kUc));
  EXPECT_FALSE(Parse("read-response").IsOf(QpType::kUd));
  EXPECT_TRUE(Parse("rdma-write").IsOf(QpType::kUc));
  EXPECT_FALSE(Parse("rdma-write").IsOf(QpType::kUd));
  EXPECT_FALSE(Parse("ud-send-only").IsOf(QpType::kRc));
  EXPECT_TRUE(Parse("any").IsOf(QpType::kUd));
}

TEST(OpcodeFilterTest, ANameThatIsNoneIsRefusedWithTheClosest) {
  EXPECT_EQ(ParseOpcodeFilter("rc-acknowlege").status().message(),
            "opcode \"rc-acknowlege\": there are any, send, rdma-write, "
            "read-response, atomic, ack, and those of the specification, as "
            "rc-send-only: did you mean \"rc-acknowledge\"?");
  EXPECT_FALSE(ParseOpcodeFilter("uc-acknowledge").ok());
  EXPECT_FALSE(ParseOpcodeFilter("ud-send-first").ok());
  EXPECT_FALSE(ParseOpcodeFilter("").ok());
}

}  // namespace
}  // namespace ibemu::fabric
