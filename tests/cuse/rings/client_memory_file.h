// A memfd as a client makes it for its rings.
#ifndef IBEMU_TESTS_CUSE_RINGS_CLIENT_MEMORY_FILE_H_
#define IBEMU_TESTS_CUSE_RINGS_CLIENT_MEMORY_FILE_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

#include "base/unique_fd.h"

namespace ibemu::cuse {

// A sealed memfd, and the client's own mapping of it.
class ClientMemoryFile {
 public:
  static constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

  explicit ClientMemoryFile(size_t size, int seals = kSeals)
      : fd_(memfd_create("rings", MFD_CLOEXEC | MFD_ALLOW_SEALING)),
        size_(size) {
    EXPECT_EQ(ftruncate(fd_.get(), static_cast<off_t>(size)), 0);
    EXPECT_EQ(fcntl(fd_.get(), F_ADD_SEALS, seals), 0);
    address_ =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    EXPECT_NE(address_, MAP_FAILED);
  }
  ~ClientMemoryFile() { munmap(address_, size_); }
  ClientMemoryFile(const ClientMemoryFile&) = delete;
  ClientMemoryFile& operator=(const ClientMemoryFile&) = delete;

  int fd() const { return fd_.get(); }
  void* address() const { return address_; }

 private:
  UniqueFd fd_;
  size_t size_;
  void* address_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_TESTS_CUSE_RINGS_CLIENT_MEMORY_FILE_H_
