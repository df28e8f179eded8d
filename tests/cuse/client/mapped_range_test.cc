#include "cuse/client/mapped_range.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

#include "base/unique_fd.h"

namespace ibemu::cuse {
namespace {

constexpr size_t kOnePage = 4096;

// Pages of this process, all gone with it.
class MappedRangeTest : public ::testing::Test {
 protected:
  static uint64_t Map(size_t pages, int rights, int flags, int fd = -1) {
    void* const made = mmap(nullptr, pages * kOnePage, rights, flags, fd, 0);
    EXPECT_NE(made, MAP_FAILED);
    return reinterpret_cast<uintptr_t>(made);
  }
  static uint64_t MapOwn(size_t pages, int rights = PROT_READ | PROT_WRITE) {
    return Map(pages, rights, MAP_PRIVATE | MAP_ANONYMOUS);
  }
  static void Protect(uint64_t page, int rights) {
    ASSERT_EQ(mprotect(reinterpret_cast<void*>(page), kOnePage, rights), 0);
  }
  static bool Readable(uint64_t start, uint64_t length) {
    return CheckMapped(getpid(), start, length, false).ok();
  }
  static bool Writable(uint64_t start, uint64_t length) {
    return CheckMapped(getpid(), start, length, true).ok();
  }
};

TEST_F(MappedRangeTest, WantsEachPage) {
  const uint64_t start = MapOwn(4);
  EXPECT_TRUE(Writable(start, 4 * kOnePage));
  EXPECT_TRUE(Writable(start + 1, 1));
  EXPECT_TRUE(Writable(start + kOnePage - 1, 2));
  munmap(reinterpret_cast<void*>(start + 2 * kOnePage), kOnePage);
  EXPECT_TRUE(Writable(start, 2 * kOnePage));
  EXPECT_FALSE(Writable(start, 2 * kOnePage + 1));
  EXPECT_FALSE(Writable(start + 2 * kOnePage, 1));
  EXPECT_FALSE(Readable(start, 4 * kOnePage));
  EXPECT_TRUE(Readable(start + 3 * kOnePage, kOnePage));
}

TEST_F(MappedRangeTest, WantsTheRights) {
  const uint64_t start = MapOwn(3);
  Protect(start + kOnePage, PROT_READ);
  EXPECT_TRUE(Readable(start, 3 * kOnePage)) << "of three mappings";
  EXPECT_TRUE(Writable(start, kOnePage));
  EXPECT_FALSE(Writable(start, kOnePage + 1));
  Protect(start + kOnePage, PROT_NONE);
  EXPECT_FALSE(Readable(start, 3 * kOnePage));
}

TEST_F(MappedRangeTest, KnowsWhereAFileEnds) {
  const UniqueFd file(memfd_create("two pages", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(file.get(), kOnePage + 1), 0);
  const uint64_t start = Map(4, PROT_READ | PROT_WRITE, MAP_SHARED, file.get());
  EXPECT_TRUE(Writable(start, 2 * kOnePage));
  EXPECT_FALSE(Writable(start, 2 * kOnePage + 1));
  EXPECT_FALSE(Readable(start, 4 * kOnePage));
}

TEST_F(MappedRangeTest, FindsNothingAtAddressesThatNobodyHas) {
  EXPECT_FALSE(Readable(0, 1));
  EXPECT_FALSE(Readable(uint64_t{1} << 62, kOnePage));
  EXPECT_FALSE(Readable(MapOwn(1), uint64_t{1} << 48));
}

// The kernel keeps its clock there.
TEST_F(MappedRangeTest, TakesNoPagesThatAreNoMemory) {
  uint64_t vvar = 0;
  FILE* const maps = std::fopen("/proc/self/maps", "re");
  char line[512];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    if (std::string_view(line).ends_with("[vvar]\n")) {
      vvar = std::strtoull(line, nullptr, 16);
    }
  }
  std::fclose(maps);
  if (vvar == 0) GTEST_SKIP() << "this kernel has no [vvar]";
  EXPECT_FALSE(Readable(vvar, 1));
}

TEST_F(MappedRangeTest, FindsNothingInAProcessThatIsGone) {
  EXPECT_TRUE(absl::IsDataLoss(CheckMapped(-1, MapOwn(1), 1, false)));
}

}  // namespace
}  // namespace ibemu::cuse
