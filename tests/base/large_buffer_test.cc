#include "base/large_buffer.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ibemu {
namespace {

using ::testing::Each;
using ::testing::Ge;
using ::testing::SizeIs;

constexpr size_t kMiB = size_t{1} << 20;

// The flags of the mapping that holds `address`: "VmFlags:" in proc(5).
std::string FlagsOf(const std::byte* address) {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream range(line);
    uintptr_t begin = 0, end = 0;
    char dash = 0;
    if (range >> std::hex >> begin >> dash >> end && dash == '-') {
      inside = begin <= wanted && wanted < end;
    } else if (inside && line.starts_with("VmFlags:")) {
      return line + " ";
    }
  }
  return "";
}

TEST(LargeBufferTest, KeepsWhatIsThere) {
  for (const size_t capacity : {size_t{1}, kMiB, 16 * kMiB}) {
    std::vector<std::byte> bytes(1000, std::byte{7});
    ReserveLarge(bytes, capacity);
    EXPECT_THAT(bytes, SizeIs(1000));
    EXPECT_THAT(bytes, Each(std::byte{7}));
    EXPECT_THAT(bytes.capacity(), Ge(capacity));
  }
}

TEST(LargeBufferTest, HasHugePagesWhereThereAreSome) {
  std::vector<std::byte> bytes;
  ReserveLarge(bytes, 16 * kMiB);
  const bool wished =
      FlagsOf(bytes.data() + 8 * kMiB).find(" hg ") != std::string::npos;
  EXPECT_EQ(wished,
            std::filesystem::exists("/sys/kernel/mm/transparent_hugepage"));
}

}  // namespace
}  // namespace ibemu
