#include "daemon/memory_trim.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace ibemu::daemon {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

class MemoryTrimTest : public ::testing::Test {
 protected:
  // Looks while so much is resident and allocated.
  void LookAt(size_t resident, size_t allocated) {
    use_ = {.resident = resident, .allocated = allocated};
    trim_.Look();
  }

  MemoryTrim::Use use_;
  size_t left_ = 15 * kMiB;  // resident after a trim
  int trims_ = 0;
  MemoryTrim trim_{{.use = [this] { return use_; },
                    .trim =
                        [this] {
                          ++trims_;
                          use_.resident = left_;
                        }}};
};

TEST_F(MemoryTrimTest, GivesBackWhatWasFreedWhenNothingGoesOn) {
  LookAt(13 * kMiB, 3 * kMiB);
  LookAt(300 * kMiB, 280 * kMiB);
  LookAt(300 * kMiB, 4 * kMiB);  // it was just freed
  EXPECT_EQ(trims_, 0);
  LookAt(300 * kMiB, 4 * kMiB);
  EXPECT_EQ(trims_, 1);
  LookAt(15 * kMiB, 4 * kMiB);
  EXPECT_EQ(trims_, 1);
}

TEST_F(MemoryTrimTest, LeavesLittleWhereItIs) {
  LookAt(13 * kMiB, 3 * kMiB);
  for (int i = 0; i < 3; ++i) LookAt(34 * kMiB, 3 * kMiB);
  EXPECT_EQ(trims_, 0);
}

TEST_F(MemoryTrimTest, DoesNotTryAgainWhatDoesNotHelp) {
  LookAt(13 * kMiB, 3 * kMiB);
  left_ = 290 * kMiB;
  for (int i = 0; i < 5; ++i) LookAt(300 * kMiB, 4 * kMiB);
  EXPECT_EQ(trims_, 1);
  left_ = 335 * kMiB;
  for (int i = 0; i < 2; ++i) LookAt(340 * kMiB, 4 * kMiB);
  EXPECT_EQ(trims_, 2);
}

// Of what malloc has given out a sanitizer's says nothing.
TEST_F(MemoryTrimTest, TheKernelSaysWhatIsResident) {
  const MemoryTrim::Allocator malloc = MemoryTrim::Malloc();
  const MemoryTrim::Use before = malloc.use();
  const std::vector<std::byte> more(64 * kMiB, std::byte{1});
  EXPECT_GE(malloc.use().resident, before.resident + more.size() / 2);
  malloc.trim();
  EXPECT_GE(malloc.use().resident, more.size() / 2);
}

}  // namespace
}  // namespace ibemu::daemon
