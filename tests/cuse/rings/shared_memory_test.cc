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

TEST(SharedMemoryTest, RefusesWhatCouldBecomeShorter) {
  for (const int seals : {0, F_SEAL_SHRINK, F_SEAL_SHRINK | F_SEAL_SEAL,
                          F_SEAL_GROW | F_SEAL_SEAL}) {
    const ClientMemoryFile client(kSize, seals);
    EXPECT_EQ(SharedMemory::Of(gettid(), client.fd(), kSize).status().code(),
              absl::StatusCode::kInvalidArgument)
        << seals;
  }
}

TEST(SharedMemoryTest, RefusesWhatNobodyMayWriteTo) {
  const UniqueFd sealed(memfd_create("rings", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(sealed.get(), kSize), 0);
  ASSERT_EQ(fcntl(sealed.get(), F_ADD_SEALS,
                  ClientMemoryFile::kSeals | F_SEAL_FUTURE_WRITE),
            0);
  EXPECT_EQ(SharedMemory::Of(gettid(), sealed.get(), kSize).status().code(),
            absl::StatusCode::kInvalidArgument);
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
  for (const int fd : {null.get(), plain.get(), -1, 100000}) {
    EXPECT_EQ(SharedMemory::Of(gettid(), fd, kSize).status().code(),
              absl::StatusCode::kInvalidArgument)
        << fd;
  }
}

TEST(SharedMemoryTest, NobodyHasAClientThatHasEnded) {
  EXPECT_EQ(SharedMemory::Of(1 << 30, 0, kSize).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace ibemu::cuse
