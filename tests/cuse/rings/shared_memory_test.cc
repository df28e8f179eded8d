#include "cuse/rings/shared_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "tests/cuse/rings/client_memory_file.h"

namespace ibemu::cuse {
namespace {

constexpr size_t kSize = 8192;

TEST(SharedMemoryTest, IsTheMemoryOfTheClient) {
  const ClientMemoryFile client(kSize);
  const auto shared = SharedMemory::Of(gettid(), client.fd(), kSize);
  ASSERT_TRUE(shared.ok()) << shared.status();
  std::memcpy(client.address(), "said", 4);
  EXPECT_EQ(std::memcmp(shared->address(), "said", 4), 0);
}

TEST(SharedMemoryTest, RefusesOtherSeals) {
  for (const int seals : {0, int{F_SEAL_SHRINK}, int{F_SEAL_GROW},
                          ClientMemoryFile::kSeals | F_SEAL_SEAL}) {
    const ClientMemoryFile client(kSize, seals);
    EXPECT_EQ(SharedMemory::Of(gettid(), client.fd(), kSize).status().code(),
              absl::StatusCode::kInvalidArgument)
        << seals;
  }
}

TEST(SharedMemoryTest, RefusesPagesThatAreNotThere) {
  for (const size_t allocated : {size_t{0}, kSize / 2}) {
    const ClientMemoryFile client(kSize, ClientMemoryFile::kSeals, allocated);
    EXPECT_EQ(SharedMemory::Of(gettid(), client.fd(), kSize).status().code(),
              absl::StatusCode::kInvalidArgument)
        << allocated;
  }
}

// The client has its mapping, and can make no hole in the memory any more.
TEST(SharedMemoryTest, NobodyTakesPagesAwayAgain) {
  const ClientMemoryFile client(kSize);
  const auto shared = SharedMemory::Of(gettid(), client.fd(), kSize);
  ASSERT_TRUE(shared.ok()) << shared.status();
  EXPECT_NE(fallocate(client.fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      0, kSize),
            0);
  EXPECT_NE(madvise(client.address(), kSize, MADV_REMOVE), 0);
  EXPECT_NE(ftruncate(client.fd(), 0), 0);
  EXPECT_EQ(
      mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, client.fd(), 0),
      MAP_FAILED);
  std::memcpy(client.address(), "said", 4);
  EXPECT_EQ(std::memcmp(shared->address(), "said", 4), 0);
}

TEST(SharedMemoryTest, RefusesAnotherLength) {
  const ClientMemoryFile client(kSize);
  EXPECT_FALSE(SharedMemory::Of(gettid(), client.fd(), kSize + 1).ok());
  EXPECT_FALSE(SharedMemory::Of(gettid(), client.fd(), kSize - 1).ok());
}

TEST(SharedMemoryTest, RefusesOtherFiles) {
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  const UniqueFd plain(memfd_create("plain", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(plain.get(), kSize), 0);
  for (const int fd : {null.get(), plain.get()}) {
    EXPECT_EQ(SharedMemory::Of(gettid(), fd, kSize).status().code(),
              absl::StatusCode::kInvalidArgument)
        << fd;
  }
  for (const int fd : {-1, 100000}) {
    EXPECT_EQ(SharedMemory::Of(gettid(), fd, kSize).status().code(),
              absl::StatusCode::kNotFound)
        << fd;
  }
}

TEST(SharedMemoryTest, NobodyHasAClientThatHasEnded) {
  EXPECT_EQ(SharedMemory::Of(1 << 30, 0, kSize).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace ibemu::cuse
