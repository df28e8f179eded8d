#include "fast_path/preload/known_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>

namespace ibemu::fast_path {
namespace {

constexpr uintptr_t kPage = 4096;

const void* At(uintptr_t address) {
  return reinterpret_cast<const void*>(address);
}

class KnownPagesTest : public ::testing::Test {
 protected:
  const std::unique_ptr<KnownPages> pages_ = std::make_unique<KnownPages>();
};

TEST_F(KnownPagesTest, KnowsNothingAtFirst) {
  EXPECT_FALSE(pages_->Has(nullptr, 1));
  EXPECT_FALSE(pages_->Has(At(8), 320));
  EXPECT_FALSE(pages_->Has(At(77 * kPage), 1));
}

TEST_F(KnownPagesTest, KnowsAllPagesOfWhatWasAccessed) {
  pages_->Add(At(10 * kPage + 4000), 200);  // two pages
  EXPECT_TRUE(pages_->Has(At(10 * kPage), kPage));
  EXPECT_TRUE(pages_->Has(At(11 * kPage), kPage));
  EXPECT_TRUE(pages_->Has(At(10 * kPage), 2 * kPage));
  EXPECT_FALSE(pages_->Has(At(9 * kPage + 4095), 2));
  EXPECT_FALSE(pages_->Has(At(11 * kPage + 4095), 2));
}

TEST_F(KnownPagesTest, NothingWasAccessedWhereNoByteWas) {
  pages_->Add(At(10 * kPage), 0);
  EXPECT_FALSE(pages_->Has(At(10 * kPage), 1));
}

TEST_F(KnownPagesTest, APageTakesThePlaceOfAnother) {
  pages_->Add(At(10 * kPage), 1);
  pages_->Add(At((10 + 4096) * kPage), 1);
  EXPECT_FALSE(pages_->Has(At(10 * kPage), 1));
  EXPECT_TRUE(pages_->Has(At((10 + 4096) * kPage), 1));
}

TEST_F(KnownPagesTest, NothingIsKnownBeyondTheLastAddress) {
  const void* const last = At(~uintptr_t{0});
  EXPECT_FALSE(pages_->Has(last, 8));
  pages_->Add(last, 8);
  EXPECT_FALSE(pages_->Has(last, 8));
  EXPECT_FALSE(pages_->Has(nullptr, 8));
}

}  // namespace
}  // namespace ibemu::fast_path
