#include "daemon/capture/capture_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/capture/capture_format.h"
#include "daemon/capture/pcap_file.h"

namespace ibemu::daemon {
namespace {

using Bytes = std::vector<std::byte>;

Bytes Record(uint8_t type, size_t packet, uint16_t lost = 0) {
  Bytes record(16 + packet, std::byte{0xcd});
  wire::Encode(
      ErfHeader{// 2.5 s after 1970
                .swapped_timestamp = __builtin_bswap64(0x2'8000'0000),
                .type = type,
                .record_length = static_cast<uint16_t>(record.size()),
                .lost = lost,
                .wire_length = static_cast<uint16_t>(packet)},
      record);
  return record;
}

TEST(CaptureFileTest, ItSaysWhatItHoldsAndInWhichOrderBytesAre) {
  Bytes file;
  PcapFile().Begin(file);
  ASSERT_EQ(file.size(), 24u);
  const auto header = wire::Decode<PcapFileHeader>(file);
  EXPECT_EQ(header.magic, 0xa1b23c4du);
  EXPECT_EQ(header.major, 2);
  EXPECT_EQ(header.minor, 4);
  EXPECT_EQ(header.link_type, 197u);
}

TEST(CaptureFileTest, ARecordBecomesAPacketWhenAllOfItIsThere) {
  PcapFile pcap;
  CaptureFile capture(pcap, 10);
  const Bytes record = Record(ErfHeader::kInfiniband, 30);
  Bytes file;
  for (size_t i = 0; i < record.size(); ++i) {
    EXPECT_TRUE(file.empty());
    ASSERT_TRUE(capture.Add(std::span(record).subspan(i, 1), file).ok());
  }
  ASSERT_EQ(file.size(), 16u + 16u + 30u);
  const auto header = wire::Decode<PcapPacketHeader>(file);
  EXPECT_EQ(header.seconds, 2u);
  EXPECT_EQ(header.nanoseconds, 500'000'000u);
  EXPECT_EQ(header.captured, 46u);
  EXPECT_EQ(header.original, 46u);
  EXPECT_EQ(Bytes(file.begin() + 16, file.end()), record);
  EXPECT_EQ(capture.packets(), 1u);
}

TEST(CaptureFileTest, LossesAreSummedAndTheLastRecordIsNoPacket) {
  PcapFile pcap;
  CaptureFile capture(pcap, 10);
  Bytes stream = Record(ErfHeader::kInfiniband, 30, 3);
  const Bytes end = Record(ErfHeader::kPad, 0, 4);
  stream.insert(stream.end(), end.begin(), end.end());
  Bytes file;
  EXPECT_FALSE(capture.ended());
  ASSERT_TRUE(capture.Add(stream, file).ok());
  EXPECT_TRUE(capture.ended());
  EXPECT_EQ(capture.lost(), 7u);
  EXPECT_EQ(capture.packets(), 1u);
  EXPECT_EQ(file.size(), 62u);
}

TEST(CaptureFileTest, ItTakesNoMorePacketsThanAskedFor) {
  PcapFile pcap;
  CaptureFile capture(pcap, 2);
  Bytes file;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(capture.full(), i == 2);
    ASSERT_TRUE(capture.Add(Record(ErfHeader::kInfiniband, 30), file).ok());
  }
  EXPECT_EQ(capture.packets(), 2u);
  EXPECT_EQ(file.size(), 2 * 62u);
}

TEST(CaptureFileTest, APortIsNoPacketAndNeedsANumber) {
  PcapFile pcap;
  CaptureFile capture(pcap, 2);
  Bytes file;
  ASSERT_TRUE(capture.Add(Record(ErfHeader::kPort, 9), file).ok());
  EXPECT_EQ(capture.packets(), 0u);
  EXPECT_TRUE(file.empty());
  EXPECT_EQ(capture.Add(Record(ErfHeader::kPort, 3), file).code(),
            absl::StatusCode::kDataLoss);
}

TEST(CaptureFileTest, WhatIsNoRecordIsRefused) {
  PcapFile pcap;
  CaptureFile capture(pcap, 2);
  Bytes file;
  EXPECT_EQ(capture.Add(Bytes(16), file).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace ibemu::daemon
