#include "hca/remote/mpqemu_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/random.h"
#include "tests/hca/remote/fake_qemu.h"

namespace ibemu::hca::remote {
namespace {

using ::testing::HasSubstr;

class MpqemuDecoderTest : public ::testing::Test {
 protected:
  // In pieces of what the decoder wants, `most` bytes at a time.
  absl::Status Add(std::span<const std::byte> bytes, size_t most = 1000,
                   std::vector<UniqueFd> descriptors = {}) {
    while (!bytes.empty()) {
      const size_t size = std::min({most, bytes.size(), decoder_.wanted()});
      if (absl::Status status =
              decoder_.Add(bytes.first(size), std::move(descriptors));
          !status.ok()) {
        return status;
      }
      descriptors.clear();
      bytes = bytes.subspan(size);
    }
    return absl::OkStatus();
  }

  template <class What>
  What Taken() {
    auto message = decoder_.Take();
    EXPECT_TRUE(message && std::holds_alternative<What>(*message));
    return std::get<What>(*std::move(message));
  }

  MpqemuDecoder decoder_;
};

TEST_F(MpqemuDecoderTest, ReadsAnAccessToConfigurationSpace) {
  ASSERT_TRUE(Add(ConfigReadMessage(0x10, 4)).ok());
  const auto read = Taken<ConfigRead>();
  EXPECT_EQ(read.offset, 0x10u);
  EXPECT_EQ(read.size, 4u);
  ASSERT_TRUE(Add(ConfigWriteMessage(0x4, 2, 6)).ok());
  const auto write = Taken<ConfigWrite>();
  EXPECT_EQ(write.offset, 4u);
  EXPECT_EQ(write.size, 2u);
  EXPECT_EQ(write.value, 6u);
  EXPECT_FALSE(decoder_.Take());
}

TEST_F(MpqemuDecoderTest, ReadsAnAccessToABarThatComesByteByByte) {
  const auto bytes = BarWriteMessage(0xfe000014, 8, 0x1122334455667788);
  ASSERT_TRUE(Add(std::span(bytes).first(bytes.size() - 1), 1).ok());
  EXPECT_FALSE(decoder_.Take());
  ASSERT_TRUE(Add(std::span(bytes).last(1)).ok());
  const auto write = Taken<BarWrite>();
  EXPECT_EQ(write.address, 0xfe000014u);
  EXPECT_EQ(write.size, 8u);
  EXPECT_EQ(write.value, 0x1122334455667788u);
}

TEST_F(MpqemuDecoderTest, RegionsOfMemoryAreAsManyAsDescriptors) {
  std::vector<UniqueFd> files;
  files.push_back(MemoryFile(4096));
  const int number = files[0].get();
  ASSERT_TRUE(
      Add(MemoryMessage(0x100000, 0x1000, 0), 1000, std::move(files)).ok());
  const auto memory = Taken<SyncMemory>();
  ASSERT_EQ(memory.regions.size(), 1u);
  EXPECT_EQ(memory.regions[0].address, 0x100000u);
  EXPECT_EQ(memory.regions[0].size, 0x1000u);
  EXPECT_EQ(memory.regions[0].file.get(), number);
}

TEST_F(MpqemuDecoderTest, CommandsWithoutContentAreCompleteAtOnce) {
  ASSERT_TRUE(Add(Message(7, {})).ok());
  Taken<DeviceReset>();
  std::vector<UniqueFd> events;
  events.push_back(MemoryFile(1));
  const int number = events[0].get();
  ASSERT_TRUE(Add(Message(6, {}), 1000, std::move(events)).ok());
  Taken<SetIrqFd>();
  EXPECT_EQ(fcntl(number, F_GETFD), -1) << "is nobody's, and stayed open";
}

TEST_F(MpqemuDecoderTest, RefusesACommandThatNobodyKnows) {
  EXPECT_THAT(std::string(Add(Message(8, {})).message()),
              HasSubstr("command 8 is unknown"));
}

TEST_F(MpqemuDecoderTest, RefusesAnAnswerWhereARequestBelongs) {
  EXPECT_FALSE(Add(Message<uint64_t>(1, {0})).ok());
}

TEST_F(MpqemuDecoderTest, RefusesContentOfAnotherSize) {
  EXPECT_THAT(std::string(Add(Message<uint64_t>(3, {0, 0})).message()),
              HasSubstr("16 bytes instead of 12"));
  MpqemuDecoder other;
  decoder_ = std::move(other);
  EXPECT_FALSE(Add(Message<uint64_t>(7, {0})).ok());
}

TEST_F(MpqemuDecoderTest, RefusesAccessesOfStrangeSizes) {
  for (const uint32_t size : {0u, 3u, 8u, 0xffffffffu}) {
    MpqemuDecoder decoder;
    decoder_ = std::move(decoder);
    EXPECT_FALSE(Add(ConfigReadMessage(0, size)).ok()) << size;
  }
  for (const uint32_t size : {0u, 5u, 16u}) {
    MpqemuDecoder decoder;
    decoder_ = std::move(decoder);
    EXPECT_FALSE(Add(BarReadMessage(0, size)).ok()) << size;
  }
}

TEST_F(MpqemuDecoderTest, RefusesMoreDescriptorsThanQemuSends) {
  std::vector<UniqueFd> files;
  files.reserve(9);
  for (int i = 0; i < 9; ++i) files.push_back(MemoryFile(1));
  EXPECT_THAT(
      std::string(
          Add(MemoryMessage(0, 1, 0), 1000, std::move(files)).message()),
      HasSubstr("more than 8 descriptors"));
}

TEST_F(MpqemuDecoderTest, OutlivesAnything) {
  Random random(1);
  uint64_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    MpqemuDecoder decoder;
    // A header that may be right, then noise.
    std::vector<std::byte> bytes = Message(random.Below(10), {});
    const uint64_t size = random.Below(4) * 12;
    std::memcpy(bytes.data() + 8, &size, sizeof size);
    for (uint64_t i = 0; i < size; ++i) {
      bytes.push_back(static_cast<std::byte>(random.Below(9)));
    }
    decoder_ = std::move(decoder);
    if (!Add(bytes, 1 + random.Below(20)).ok()) {
      ++refused;
    } else {
      ASSERT_GE(decoder_.wanted(), 1u);
    }
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_LT(refused, 20'000u);
}

TEST(EncodeReturn, IsAHeaderAndAValue) {
  const auto bytes = EncodeReturn(0x1122334455667788);
  const auto expected = Message<uint64_t>(1, {0x1122334455667788});
  EXPECT_TRUE(
      std::equal(bytes.begin(), bytes.end(), expected.begin(), expected.end()));
}

}  // namespace
}  // namespace ibemu::hca::remote
