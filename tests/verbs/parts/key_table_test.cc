#include "verbs/parts/key_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "testing/fake_memory.h"
#include "testing/virtual_timers.h"
#include "verbs/parts/memory_region.h"

namespace ibemu::verbs {
namespace {

class KeyTableTest : public ::testing::Test {
 protected:
  std::unique_ptr<MemoryRegion> Register(uint32_t access = 7) {
    return *MemoryRegion::Register(keys_, {.pd = &pd_,
                                           .memory = memory_,
                                           .start = 0x5000,
                                           .length = 0x1000,
                                           .address = 0x9000,
                                           .access = access});
  }

  struct Domain : verbs::Pd {
  } pd_, other_;
  testing::VirtualTimers timers_;
  std::shared_ptr<testing::FakeMemory> memory_ =
      std::make_shared<testing::FakeMemory>(timers_, 1);
  KeyTable keys_{100};
};

TEST_F(KeyTableTest, SaysWhereBytesAreInTheProcess) {
  const auto region = Register();
  const auto range = keys_.Find(region->lkey(), &pd_, 0x9010, 0xff0, 1);
  ASSERT_TRUE(range.ok()) << range.status();
  ASSERT_EQ(range->size(), 1u);
  EXPECT_EQ(range->front().address, 0x5010u);
  EXPECT_EQ(range->front().size, 0xff0u);
}

TEST_F(KeyTableTest, KeepsToTheBounds) {
  const auto region = Register();
  const uint32_t key = region->lkey();
  EXPECT_FALSE(keys_.Find(key, &pd_, 0x9010, 0xff1, 1).ok());
  EXPECT_FALSE(keys_.Find(key, &pd_, 0x8fff, 1, 1).ok());
  EXPECT_FALSE(keys_.Find(key, &pd_, 0xa000, 1, 1).ok());
  EXPECT_FALSE(keys_.Find(key, &pd_, ~uint64_t{0}, 2, 1).ok());
  EXPECT_TRUE(keys_.Find(0, nullptr, 0, 0, 1).ok()) << "nothing to reach";
}

TEST_F(KeyTableTest, ComparesEveryBitOfAKey) {
  const auto region = Register();
  for (uint32_t bit = 1; bit != 0; bit <<= 1) {
    EXPECT_FALSE(keys_.Find(region->lkey() ^ bit, &pd_, 0x9000, 1, 1).ok());
  }
}

TEST_F(KeyTableTest, AsksForDomainAndRights) {
  const auto region = Register(verbs::access::kLocalWrite);
  const uint32_t key = region->lkey();
  EXPECT_FALSE(keys_.Find(key, &other_, 0x9000, 1, 0).ok());
  EXPECT_FALSE(
      keys_.Find(key, &pd_, 0x9000, 1, verbs::access::kRemoteRead).ok());
  EXPECT_TRUE(keys_.Find(key, &pd_, 0x9000, 1, 0).ok());
}

TEST_F(KeyTableTest, AKeyEndsWithItsRegion) {
  auto region = Register();
  const uint32_t key = region->rkey();
  EXPECT_TRUE(keys_.Find(key, &pd_, 0x9000, 1, 1).ok());
  region.reset();
  EXPECT_FALSE(keys_.Find(key, &pd_, 0x9000, 1, 1).ok());
}

TEST_F(KeyTableTest, TellsAKeyThatHasEndedFromOneThatNobodyGaveOut) {
  auto region = Register();
  const uint32_t key = region->rkey();
  const auto why = [&](uint32_t one) {
    return std::string(keys_.Find(one, &pd_, 0x9000, 1, 1).status().message());
  };
  EXPECT_EQ(why(key + 1),
            absl::StrFormat("no region has the key %#x", key + 1));
  region.reset();
  const std::string ended = absl::StrFormat(
      "no region has the key %#x any more: it was deregistered", key);
  EXPECT_EQ(why(key), ended);
  EXPECT_EQ(why(key + 1),
            absl::StrFormat("no region has the key %#x", key + 1));
  // The place is taken again, and again until each key of it was used.
  for (int i = 0; i < 300 * 20; ++i) region = Register();
  EXPECT_NE(region->rkey(), key);
  EXPECT_EQ(why(key), ended);
}

TEST_F(KeyTableTest, SgesAreFoundInTheirOrderOrNotAtAll) {
  const auto region = Register(), beside = Register();
  const std::vector<ib_uverbs_sge> sges = {{0x9100, 8, region->lkey()},
                                           {0, 0, /*lkey=*/0},
                                           {0x9000, 4, beside->lkey()}};
  const auto ranges = keys_.FindAll(sges, &pd_, 0);
  ASSERT_TRUE(ranges.ok()) << ranges.status();
  ASSERT_EQ(ranges->size(), 2u) << "an empty one needs no key";
  EXPECT_EQ((*ranges)[0].address, 0x5100u);
  EXPECT_EQ((*ranges)[0].size, 8u);
  EXPECT_EQ((*ranges)[1].address, 0x5000u);
  EXPECT_FALSE(keys_.FindAll(sges, &other_, 0).ok());
}

TEST_F(KeyTableTest, GivesAnotherKeyEachTime) {
  std::set<uint32_t> seen;
  for (int i = 0; i < 1000; ++i)
    EXPECT_TRUE(seen.insert(Register()->lkey()).second);
}

TEST_F(KeyTableTest, HasAnEnd) {
  std::vector<std::unique_ptr<MemoryRegion>> regions;
  regions.reserve(100);
  for (int i = 0; i < 100; ++i) regions.push_back(Register());
  EXPECT_TRUE(absl::IsResourceExhausted(keys_.Allocate().status()));
  regions.pop_back();
  EXPECT_TRUE(keys_.Allocate().ok());
}

}  // namespace
}  // namespace ibemu::verbs
