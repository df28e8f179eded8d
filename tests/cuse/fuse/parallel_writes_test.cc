// Which open files let several threads write at once: the kernel sees to that
// by their flags and by the size of the inode.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fuse.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstdint>
#include <cstring>

#include "tests/cuse/fuse/verbs_tree_fixture.h"

namespace ibemu::cuse {
namespace {

using testing::KernelSide;

constexpr uint32_t kUsualFlags = FOPEN_DIRECT_IO | FOPEN_STREAM;
constexpr uint32_t kFirst = 38;  // the minor version that has it

class ParallelWritesTest : public VerbsTreeTest {
 protected:
  // What fstat() shows.
  uint64_t SizeOf(const KernelSide::OpenFile& file) {
    const fuse_getattr_in in{};
    const auto reply =
        kernel_.Call(FUSE_GETATTR, file.node, {testing::AsBytes(in)});
    EXPECT_EQ(reply.error, 0);
    fuse_attr_out out{};
    if (reply.data.size() >= sizeof out) {
      std::memcpy(&out, reply.data.data(), sizeof out);
    }
    return out.attr.size;
  }
};

TEST_F(ParallelWritesTest, CommandsOfVerbsDoNotWaitForEachOther) {
  kernel_.Init(kFirst);
  constexpr uint64_t kBeyondWrites = uint64_t{1} << 62;
  EXPECT_EQ(kernel_.Walk("dev/.uverbs0").out.attr.size, kBeyondWrites);
  const auto file = kernel_.Open("dev/.uverbs0", O_RDWR);
  EXPECT_EQ(file.flags, kUsualFlags | FOPEN_PARALLEL_DIRECT_WRITES);
  EXPECT_EQ(SizeOf(file), kBeyondWrites);
}

TEST_F(ParallelWritesTest, AnOlderKernelGetsNeitherTheFlagNorTheSize) {
  kernel_.Init(kFirst - 1);
  EXPECT_EQ(kernel_.Walk("dev/.uverbs0").out.attr.size, 0u);
  const auto file = kernel_.Open("dev/.uverbs0", O_RDWR);
  EXPECT_EQ(file.flags, kUsualFlags);
  EXPECT_EQ(SizeOf(file), 0u);
}

// rping waits for an event in one thread, and causes it from another.
TEST_F(ParallelWritesTest, CommandsOfRdmaCmDoNotWaitForEachOther) {
  kernel_.Init(kFirst);
  constexpr uint64_t kBeyondWrites = uint64_t{1} << 62;
  EXPECT_EQ(kernel_.Walk("dev/.rdma_cm").out.attr.size, kBeyondWrites);
  const auto file = kernel_.Open("dev/.rdma_cm", O_RDWR);
  EXPECT_EQ(file.flags, kUsualFlags | FOPEN_PARALLEL_DIRECT_WRITES);
}

// What everybody sees has the size of a device.
TEST_F(ParallelWritesTest, FilesThatAreListedHaveNoSize) {
  kernel_.Init(kFirst);
  for (const char* path :
       {"dev/umad0", "dev/issm0", "dev/uverbs0", "dev/rdma_cm"}) {
    EXPECT_EQ(kernel_.Walk(path).out.attr.size, 0u) << path;
  }
  EXPECT_EQ(kernel_.Open("dev/umad0", O_RDWR).flags, kUsualFlags);
  EXPECT_EQ(kernel_.Open("dev/issm0", O_RDWR).flags, kUsualFlags);
}

TEST_F(ParallelWritesTest, RdmaCmIsACharacterDeviceForEverybody) {
  kernel_.Init(kFirst);
  const auto shown = kernel_.Walk("dev/rdma_cm").out.attr;
  EXPECT_EQ(shown.mode, unsigned{S_IFCHR | 0666});
  EXPECT_EQ(shown.rdev, makedev(10, 122));
  EXPECT_EQ(kernel_.Walk("dev/.rdma_cm").out.attr.mode,
            unsigned{S_IFREG | 0666});
}

}  // namespace
}  // namespace ibemu::cuse
