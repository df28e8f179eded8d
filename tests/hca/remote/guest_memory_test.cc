#include "hca/remote/guest_memory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tests/hca/remote/fake_qemu.h"

namespace ibemu::hca::remote {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kPage = 4096;

// Two pages at 0, and the two after them at 1 MiB, of one file.
class GuestMemoryTest : public ::testing::Test {
 protected:
  std::vector<SyncMemory::Region> Regions() const {
    std::vector<SyncMemory::Region> regions;
    regions.push_back({0, 2 * kPage, 0, Duplicate(file_)});
    regions.push_back({1 << 20, 2 * kPage, 2 * kPage, Duplicate(file_)});
    return regions;
  }
  absl::Status Replace(const UniqueFd& file, uint64_t address, uint64_t size,
                       uint64_t offset) {
    std::vector<SyncMemory::Region> regions;
    regions.push_back({address, size, offset, Duplicate(file)});
    return memory_.Replace(regions);
  }
  uint64_t ReadWord(uint64_t address) {
    uint64_t value = 0;
    EXPECT_TRUE(memory_.Read(
        address, std::as_writable_bytes(std::span(&value, size_t{1}))));
    return value;
  }

  UniqueFd file_ = MemoryFile(4 * kPage);
  GuestMemory memory_;
};

TEST_F(GuestMemoryTest, ShowsTheFileAtTheGuestsAddresses) {
  ASSERT_TRUE(memory_.Replace(Regions()).ok());
  StoreWord(file_, 8, 0x1111);
  StoreWord(file_, 2 * kPage + 8, 0x2222);
  EXPECT_EQ(ReadWord(8), 0x1111u);
  EXPECT_EQ(ReadWord((1 << 20) + 8), 0x2222u);
}

TEST_F(GuestMemoryTest, WritesReachTheFileWhateverTheirSizeAndPlace) {
  ASSERT_TRUE(memory_.Replace(Regions()).ok());
  for (size_t size = 0; size < 40; ++size) {
    for (uint64_t address = 100; address < 110; ++address) {
      std::vector<std::byte> in(size), out(size);
      for (size_t i = 0; i < size; ++i) {
        in[i] = static_cast<std::byte>(size + address + i);
      }
      ASSERT_TRUE(memory_.Write(address, in));
      ASSERT_TRUE(memory_.Read(address, out));
      EXPECT_EQ(in, out);
    }
  }
  std::array<std::byte, 16> bytes;
  bytes.fill(std::byte{0x5a});
  ASSERT_TRUE(memory_.Write((1 << 20) + 3, bytes));
  EXPECT_EQ(LoadWord(file_, 2 * kPage + 8), 0x5a5a5a5a5a5a5a5au);
}

TEST_F(GuestMemoryTest, WhatIsNotAllMemoryIsNotTouched) {
  ASSERT_TRUE(memory_.Replace(Regions()).ok());
  std::array<std::byte, 8> bytes;
  bytes.fill(std::byte{1});
  EXPECT_FALSE(memory_.Write(2 * kPage - 4, bytes));
  EXPECT_EQ(LoadWord(file_, 2 * kPage - 8), 0u);
  EXPECT_FALSE(memory_.Read(2 * kPage - 4, bytes));
  EXPECT_EQ(bytes[0], std::byte{1});
  EXPECT_FALSE(memory_.Read(0x80000, bytes));
  EXPECT_FALSE(memory_.Read(UINT64_MAX - 3, bytes));
}

TEST_F(GuestMemoryTest, NeighbouringRegionsAreOneMemory) {
  std::vector<SyncMemory::Region> regions;
  regions.push_back({kPage, kPage, 3 * kPage, Duplicate(file_)});
  regions.push_back({0, kPage, 0, Duplicate(file_)});
  ASSERT_TRUE(memory_.Replace(regions).ok());
  std::array<std::byte, 16> bytes;
  bytes.fill(std::byte{7});
  ASSERT_TRUE(memory_.Write(kPage - 8, bytes));
  EXPECT_EQ(LoadWord(file_, kPage - 8), 0x0707070707070707u);
  EXPECT_EQ(LoadWord(file_, 3 * kPage), 0x0707070707070707u);
}

TEST_F(GuestMemoryTest, ANewListTakesThePlaceOfTheOld) {
  ASSERT_TRUE(memory_.Replace(Regions()).ok());
  std::vector<SyncMemory::Region> fewer = Regions();
  fewer.pop_back();
  ASSERT_TRUE(memory_.Replace(fewer).ok());
  std::array<std::byte, 8> bytes;
  EXPECT_TRUE(memory_.Read(0, bytes));
  EXPECT_FALSE(memory_.Read(1 << 20, bytes));
  ASSERT_TRUE(memory_.Replace({}).ok());
  EXPECT_FALSE(memory_.Read(0, bytes));
}

TEST_F(GuestMemoryTest, RefusesAFileThatMayShrink) {
  EXPECT_THAT(std::string(Replace(MemoryFile(kPage, 0), 0, kPage, 0).message()),
              HasSubstr("may shrink"));
}

TEST_F(GuestMemoryTest, RefusesARegionBeyondItsFile) {
  EXPECT_THAT(std::string(Replace(file_, 0, 5 * kPage, 0).message()),
              HasSubstr("beyond its file"));
  EXPECT_FALSE(Replace(file_, 0, kPage, 4 * kPage).ok());
  EXPECT_FALSE(Replace(file_, 0, kPage, UINT64_MAX - kPage + 1).ok());
}

TEST_F(GuestMemoryTest, RefusesRegionsThatAreEmptyOrWrapOrOverlap) {
  EXPECT_FALSE(Replace(file_, 0, 0, 0).ok());
  EXPECT_FALSE(Replace(file_, UINT64_MAX - kPage + 1, 2 * kPage, 0).ok());
  std::vector<SyncMemory::Region> regions = Regions();
  regions.push_back({kPage, kPage, 0, Duplicate(file_)});
  EXPECT_THAT(std::string(memory_.Replace(regions).message()),
              HasSubstr("overlaps"));
  std::array<std::byte, 8> bytes;
  EXPECT_FALSE(memory_.Read(0, bytes)) << "nothing of a refused list is there";
}

TEST_F(GuestMemoryTest, RefusesWhatIsNoFile) {
  EXPECT_FALSE(Replace(SocketPair().first, 0, kPage, 0).ok());
}

}  // namespace
}  // namespace ibemu::hca::remote
