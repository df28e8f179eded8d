#include "verbs/parts/memory_region.h"

#include <gtest/gtest.h>

#include <vector>

#include "testing/fake_memory.h"
#include "testing/virtual_timers.h"

namespace ibemu::verbs {
namespace {

namespace access = verbs::access;

constexpr uint64_t kStart = 0x5000, kBufferAddress = 0x9000, kLength = 0x1000;

class MemoryRegionTest : public ::testing::Test {
 protected:
  struct Domain : verbs::Pd {};

  std::unique_ptr<MemoryRegion> Register(uint32_t rights) {
    return *MemoryRegion::Register(keys_, {.pd = &pd_,
                                           .memory = memory_,
                                           .start = kStart,
                                           .length = kLength,
                                           .address = kBufferAddress,
                                           .access = rights});
  }
  bool MayRead(uint32_t key, uint64_t address, size_t size = 1) {
    return keys_.Find(key, &pd_, address, size, access::kRemoteRead).ok();
  }

  Domain pd_, other_;
  testing::VirtualTimers timers_;
  std::shared_ptr<testing::FakeMemory> memory_ =
      std::make_shared<testing::FakeMemory>(timers_, 1);
  KeyTable keys_{100};
};

class FastRegionTest : public MemoryRegionTest {
 protected:
  std::unique_ptr<FastRegion> fast_ =
      *FastRegion::Allocate(keys_, {.pd = &pd_,
                                    .memory = memory_,
                                    .access = access::kRemoteRead,
                                    .max_pages = 3,
                                    .max_maps = 2});
  const std::vector<uint64_t> pages_ = {0x7000, 0x3000, 0x4000};
};

TEST_F(FastRegionTest, MakesOneRangeOfPages) {
  ASSERT_TRUE(fast_->Map(pages_, 0x10000).ok());
  const auto ranges = keys_.Find(fast_->rkey(), &pd_, 0x10ffe, 0x1004, 0);
  ASSERT_TRUE(ranges.ok()) << ranges.status();
  ASSERT_EQ(ranges->size(), 3u);
  EXPECT_EQ((*ranges)[0].address, 0x7ffeu);
  EXPECT_EQ((*ranges)[0].size, 2u);
  EXPECT_EQ((*ranges)[1].address, 0x3000u);
  EXPECT_EQ((*ranges)[1].size, 0x1000u);
  EXPECT_EQ((*ranges)[2].address, 0x4000u);
  EXPECT_EQ((*ranges)[2].size, 2u);
  EXPECT_FALSE(MayRead(fast_->rkey(), 0x12fff, 2)) << "beyond the last page";
}

TEST_F(FastRegionTest, OpensNothingUntilItIsMapped) {
  EXPECT_FALSE(MayRead(fast_->rkey(), 0));
}

TEST_F(FastRegionTest, TheKeyOfAMappingEndsWithIt) {
  ASSERT_TRUE(fast_->Map(pages_, 0).ok());
  const uint32_t first = fast_->rkey();
  ASSERT_TRUE(fast_->Map(pages_, 0).ok());
  EXPECT_FALSE(MayRead(first, 0));
  EXPECT_TRUE(MayRead(fast_->rkey(), 0));
  fast_->Unmap();
  EXPECT_FALSE(MayRead(fast_->rkey(), 0));
}

TEST_F(FastRegionTest, IsMappedSoOftenUntilItIsUnmapped) {
  ASSERT_TRUE(fast_->Map(pages_, 0).ok());
  ASSERT_TRUE(fast_->Map(pages_, 0).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(fast_->Map(pages_, 0)));
  fast_->Unmap();
  EXPECT_TRUE(fast_->Map(pages_, 0).ok());
}

TEST_F(FastRegionTest, RefusesWhatItsPagesCanNotBe) {
  const std::vector<uint64_t> askew = {0x7001}, many(4, 0x7000);
  EXPECT_FALSE(fast_->Map({}, 0).ok());
  EXPECT_FALSE(fast_->Map(askew, 0).ok());
  EXPECT_FALSE(fast_->Map(many, 0).ok());
  EXPECT_FALSE(fast_->Map(pages_, 0x800).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(
      FastRegion::Allocate(keys_, {.memory = memory_, .page_shift = 11})
          .status()));
}

class MemoryWindowTest : public MemoryRegionTest {
 protected:
  absl::Status Bind(uint64_t address, uint64_t length,
                    uint32_t rights = access::kRemoteRead) {
    return PostedBind({.window = window_.get(),
                       .region = region_.get(),
                       .address = address,
                       .length = length,
                       .access = rights})
        .Execute(&pd_);
  }

  std::unique_ptr<MemoryRegion> region_ =
      Register(access::kBindWindow | access::kLocalWrite);
  std::unique_ptr<MemoryWindow> window_ = *MemoryWindow::Allocate(keys_, pd_);
};

TEST_F(MemoryWindowTest, OpensAPartOfARegion) {
  ASSERT_TRUE(Bind(kBufferAddress + 16, 32).ok());
  const uint32_t key = window_->rkey();
  const auto range =
      keys_.Find(key, &pd_, kBufferAddress + 16, 32, access::kRemoteRead);
  ASSERT_TRUE(range.ok()) << range.status();
  EXPECT_EQ(range->front().address, kStart + 16);
  EXPECT_FALSE(MayRead(key, kBufferAddress + 15));
  EXPECT_FALSE(MayRead(key, kBufferAddress + 48));
  EXPECT_FALSE(
      keys_.Find(key, &pd_, kBufferAddress + 16, 1, access::kRemoteWrite).ok());
  EXPECT_FALSE(keys_.Find(key, &other_, kBufferAddress + 16, 1, 0).ok());
}

TEST_F(MemoryWindowTest, IsNoLocalKey) {
  ASSERT_TRUE(Bind(kBufferAddress, 32).ok());
  const ib_uverbs_sge piece = {kBufferAddress, 32, window_->rkey()};
  EXPECT_FALSE(keys_.FindAll({&piece, 1}, &pd_, 0).ok());
}

TEST_F(MemoryWindowTest, EveryBindEndsTheKeyBeforeIt) {
  ASSERT_TRUE(Bind(kBufferAddress, 32).ok());
  const uint32_t first = window_->rkey();
  ASSERT_TRUE(Bind(kBufferAddress, 32).ok());
  EXPECT_FALSE(MayRead(first, kBufferAddress));
  EXPECT_TRUE(MayRead(window_->rkey(), kBufferAddress));
  ASSERT_TRUE(Bind(kBufferAddress, 0).ok());
  EXPECT_FALSE(MayRead(window_->rkey(), kBufferAddress));
}

TEST_F(MemoryWindowTest, EndsWithItsRegion) {
  ASSERT_TRUE(Bind(kBufferAddress, 32).ok());
  region_.reset();
  EXPECT_FALSE(MayRead(window_->rkey(), kBufferAddress));
}

TEST_F(MemoryWindowTest, KeepsToTheRegionsBounds) {
  EXPECT_TRUE(Bind(kBufferAddress, kLength).ok());
  EXPECT_FALSE(Bind(kBufferAddress, kLength + 1).ok());
  EXPECT_FALSE(Bind(kBufferAddress - 1, 1).ok());
  EXPECT_FALSE(Bind(kBufferAddress + 1, ~uint64_t{0}).ok());
}

TEST_F(MemoryWindowTest, NeedsTheRegionsConsent) {
  EXPECT_TRUE(Bind(kBufferAddress, 8, access::kRemoteAtomic).ok());
  EXPECT_FALSE(Bind(kBufferAddress, 8, access::kLocalWrite).ok());
  region_ = Register(access::kBindWindow);
  EXPECT_TRUE(Bind(kBufferAddress, 8).ok());
  EXPECT_FALSE(Bind(kBufferAddress, 8, access::kRemoteWrite).ok());
  EXPECT_FALSE(Bind(kBufferAddress, 8, access::kRemoteAtomic).ok());
  region_ = Register(access::kRemoteRead);
  EXPECT_FALSE(Bind(kBufferAddress, 8).ok());
}

TEST_F(MemoryWindowTest, StaysInItsDomain) {
  const PostedBind bind({.window = window_.get(),
                         .region = region_.get(),
                         .address = kBufferAddress,
                         .length = 8,
                         .access = access::kRemoteRead});
  EXPECT_TRUE(absl::IsPermissionDenied(bind.Execute(&other_)));
  EXPECT_TRUE(bind.Execute(&pd_).ok());
  window_ = *MemoryWindow::Allocate(keys_, other_);
  EXPECT_FALSE(Bind(kBufferAddress, 8).ok());
}

TEST_F(MemoryWindowTest, ABindComesTooLateForWhatHasGone) {
  const verbs::WindowBind what = {.window = window_.get(),
                                  .region = region_.get(),
                                  .address = kBufferAddress,
                                  .length = 8,
                                  .access = access::kRemoteRead};
  const PostedBind without_region(what), without_window(what);
  region_.reset();
  EXPECT_TRUE(absl::IsPermissionDenied(without_region.Execute(&pd_)));
  window_.reset();
  EXPECT_TRUE(absl::IsPermissionDenied(without_window.Execute(&pd_)));
}

}  // namespace
}  // namespace ibemu::verbs
