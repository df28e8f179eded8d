#include "daemon/capture/pcapng_file.h"

#include <string>
#include <string_view>
#include <vector>

#include "daemon/capture/pcapng_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ibemu::daemon {
namespace {

using Bytes = std::vector<std::byte>;
using ::testing::HasSubstr;

struct Block {
  uint32_t type;
  Bytes body;
};

// The blocks of `file`; their two lengths agree and are multiples of 4.
std::vector<Block> Blocks(const Bytes& file) {
  std::vector<Block> blocks;
  std::span<const std::byte> left = file;
  while (!left.empty()) {
    const auto head = wire::Decode<PcapngBlock>(left);
    EXPECT_EQ(head.length % 4, 0u);
    if (head.length < 12 || head.length > left.size()) {
      ADD_FAILURE() << "a block of " << head.length << " bytes";
      break;
    }
    const auto end =
        wire::Decode<PcapngBlockEnd>(left.subspan(head.length - 4));
    EXPECT_EQ(end.length, head.length);
    const auto body = left.subspan(8, head.length - 12);
    blocks.push_back({head.type, Bytes(body.begin(), body.end())});
    left = left.subspan(head.length);
  }
  return blocks;
}

std::string Text(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Bytes Record(uint16_t lost) {
  Bytes record(16 + 21, std::byte{0xcd});
  wire::Encode(
      ErfHeader{// 2.5 s after 1970
                .swapped_timestamp = __builtin_bswap64(0x2'8000'0000),
                .record_length = static_cast<uint16_t>(record.size()),
                .lost = lost,
                .wire_length = 21},
      record);
  return record;
}

TEST(PcapngFileTest, ASectionSaysWhatItIs) {
  Bytes file;
  PcapngFile("a fabric, seed 7").Begin(file);
  const std::vector<Block> blocks = Blocks(file);
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].type, 0x0a0d0d0au);
  EXPECT_EQ(wire::Decode<PcapngSection>(blocks[0].body).magic, 0x1a2b3c4du);
  EXPECT_THAT(Text(blocks[0].body), HasSubstr("a fabric, seed 7"));
}

TEST(PcapngFileTest, APortBecomesAnInterfaceOnce) {
  PcapngFile writer("");
  Bytes file;
  writer.Port(70, "sw1/3", "node-3/1", file);
  writer.Port(9, "node-3/1", "sw1/3", file);
  writer.Port(70, "", "", file);
  const std::vector<Block> blocks = Blocks(file);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].type, PcapngBlock::kInterface);
  EXPECT_EQ(wire::Decode<PcapngInterface>(blocks[0].body).link_type, 197);
  EXPECT_THAT(Text(blocks[0].body), HasSubstr("sw1/3"));
  EXPECT_THAT(Text(blocks[0].body), HasSubstr("cable to node-3/1"));

  file.clear();
  const Bytes record = Record(0);
  writer.Packet(wire::Decode<ErfHeader>(record), record, file);
  const std::vector<Block> packet = Blocks(file);
  ASSERT_EQ(packet.size(), 1u);
  const auto header = wire::Decode<PcapngPacket>(packet[0].body);
  EXPECT_EQ(header.interface_id, 0u) << "the first port that was told";
  EXPECT_EQ(header.captured, 37u);
  EXPECT_EQ(uint64_t{header.time_high} << 32 | header.time_low, 2'500'000'000u);
  EXPECT_EQ(Bytes(packet[0].body.begin() + 20, packet[0].body.begin() + 57),
            record);
  EXPECT_EQ(packet[0].body.size(), 20u + 40u);
}

TEST(PcapngFileTest, ADirectionIsAFlag) {
  PcapngFile writer("");
  Bytes file;
  Bytes record = Record(0);
  auto header = wire::Decode<ErfHeader>(record);
  header.direction = ErfHeader::Direction::kSent;
  wire::Encode(header, record);
  EXPECT_EQ(record[9], std::byte{0x06}) << "ERF: varying length, interface 2";
  writer.Packet(header, record, file);
  const std::vector<Block> blocks = Blocks(file);
  ASSERT_EQ(blocks.size(), 1u);
  // Behind the header and the padded record: flags, the end of options.
  const Bytes options(blocks[0].body.begin() + 20 + 40, blocks[0].body.end());
  const Bytes outbound = {std::byte{0}, std::byte{2}, std::byte{0},
                          std::byte{4}, std::byte{0}, std::byte{0},
                          std::byte{0}, std::byte{2}, std::byte{0},
                          std::byte{0}, std::byte{0}, std::byte{0}};
  EXPECT_EQ(options, outbound);
}

TEST(PcapngFileTest, LossesAreComments) {
  PcapngFile writer("");
  Bytes file;
  const Bytes record = Record(3);
  writer.Packet(wire::Decode<ErfHeader>(record), record, file);
  const std::vector<Block> blocks = Blocks(file);
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_THAT(Text(blocks[0].body), HasSubstr("3 packets before this one"));
}

}  // namespace
}  // namespace ibemu::daemon
