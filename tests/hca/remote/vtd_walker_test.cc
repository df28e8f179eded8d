#include "hca/remote/vtd_walker.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>

namespace ibemu::hca::remote {
namespace {

constexpr uint32_t kOn = uint32_t{1} << 31;
constexpr uint64_t kRoot = 0x10000;
constexpr uint64_t kContext = 0x11000;
constexpr uint64_t kTop = 0x12000;
constexpr uint64_t kDirectory = 0x13000;
constexpr uint64_t kTable = 0x14000;
constexpr uint8_t kWalkedDevfn = 0x80;
constexpr uint64_t kRead = 1, kWrite = 2, kLarge = 0x80;

// The IOVA 0x7700001000 as Linux maps it: 4 levels for a device of 48 bits.
constexpr uint64_t kIova = 0x7700001000;

class VtdWalkerTest : public ::testing::Test {
 protected:
  VtdWalkerTest() {
    memory_[kRoot] = kContext | 1;
    memory_[kContext + kWalkedDevfn * 16] = kTop | 1;
    memory_[kContext + kWalkedDevfn * 16 + 8] = 0x102;  // domain 1, 48 bits
    Entry(kTop, kIova >> 39, 0x15000 | kRead | kWrite);
    Entry(0x15000, kIova >> 30, kDirectory | kRead | kWrite);
    Entry(kDirectory, kIova >> 21, kTable | kRead | kWrite);
    Entry(kTable, kIova >> 12, 0x5000 | kRead | kWrite);
  }

  void Entry(uint64_t table, uint64_t index, uint64_t value) {
    memory_[table + (index & 0x1ff) * 8] = value;
  }
  std::optional<uint64_t> Translate(uint64_t address, bool write = false) {
    const auto page = walker_.Translate(registers_, address, write);
    if (!page) return std::nullopt;
    size_ = page->size;
    return page->address;
  }

  VtdRegisters registers_ = {kOn, kRoot};
  std::map<uint64_t, uint64_t> memory_;
  VtdWalker walker_{0, kWalkedDevfn,
                    [this](uint64_t at) -> std::optional<uint64_t> {
                      const auto found = memory_.find(at);
                      if (found == memory_.end()) return 0;
                      return found->second;
                    }};
  uint64_t size_ = 0;
};

TEST_F(VtdWalkerTest, FindsThePage) {
  EXPECT_EQ(Translate(kIova + 0x123, true), 0x5123u);
  EXPECT_EQ(size_, 0x1000u - 0x123);
}

TEST_F(VtdWalkerTest, WhatIsNotMappedIsAFault) {
  EXPECT_EQ(Translate(kIova + 0x1000), std::nullopt);
  EXPECT_EQ(Translate(0x5000), std::nullopt);
  Entry(kTable, kIova >> 12, 0);
  EXPECT_EQ(Translate(kIova), std::nullopt);
}

TEST_F(VtdWalkerTest, AnAddressBeyondTheWidthIsAFault) {
  EXPECT_EQ(Translate(kIova | uint64_t{1} << 48), std::nullopt);
}

TEST_F(VtdWalkerTest, APageMayBeForOneDirectionAlone) {
  Entry(kTable, kIova >> 12, 0x5000 | kRead);
  EXPECT_EQ(Translate(kIova), 0x5000u);
  EXPECT_EQ(Translate(kIova, true), std::nullopt);
  Entry(kTable, kIova >> 12, 0x5000 | kWrite);
  EXPECT_EQ(Translate(kIova), std::nullopt);
  EXPECT_EQ(Translate(kIova, true), 0x5000u);
}

TEST_F(VtdWalkerTest, APageMayBeLarge) {
  Entry(kDirectory, kIova >> 21, 0x40000000 | kRead | kLarge);
  EXPECT_EQ(Translate(kIova), 0x40001000u);
  EXPECT_EQ(size_, 0x200000u - 0x1000);
}

TEST_F(VtdWalkerTest, ADomainMayHaveThreeLevels) {
  memory_[kContext + kWalkedDevfn * 16 + 8] = 0x101;  // 39 bits
  Entry(kTop, 3, kDirectory | kRead);
  Entry(kDirectory, 0, kTable | kRead);
  Entry(kTable, 2, 0x6000 | kRead);
  EXPECT_EQ(Translate(0xc0002010), 0x6010u);
  EXPECT_EQ(Translate(0xc0002010 | uint64_t{1} << 39), std::nullopt);
}

TEST_F(VtdWalkerTest, AddressesStayWhenTranslationIsOff) {
  registers_.status = 0;
  EXPECT_EQ(Translate(0x1234), 0x1234u);
  EXPECT_EQ(Translate(UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(size_, 1u);
  EXPECT_FALSE(VtdWalker::Enabled(registers_));
}

TEST_F(VtdWalkerTest, AddressesStayWhenTheDevicePassesThrough) {
  memory_[kContext + kWalkedDevfn * 16] = 2 << 2 | 1;
  EXPECT_EQ(Translate(0x1234), 0x1234u);
}

TEST_F(VtdWalkerTest, ADeviceWithoutAContextReachesNothing) {
  memory_[kContext + kWalkedDevfn * 16] &= ~uint64_t{1};
  EXPECT_EQ(Translate(kIova), std::nullopt);
  memory_[kRoot] = 0;
  EXPECT_EQ(Translate(kIova), std::nullopt);
}

TEST_F(VtdWalkerTest, OtherModesThanLegacyAreAFault) {
  registers_.root_address |= 0x400;
  EXPECT_EQ(Translate(kIova), std::nullopt);
}

TEST_F(VtdWalkerTest, NonsenseInTheTablesIsAFault) {
  memory_[kContext + kWalkedDevfn * 16 + 8] = 7;  // 9 levels
  EXPECT_EQ(Translate(kIova), std::nullopt);
  VtdWalker nowhere(0, kWalkedDevfn, [](uint64_t) { return std::nullopt; });
  EXPECT_FALSE(nowhere.Translate(registers_, kIova, false));
}

}  // namespace
}  // namespace ibemu::hca::remote
