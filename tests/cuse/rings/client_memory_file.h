// A memfd as a client makes it for its rings.
#ifndef IBEMU_TESTS_CUSE_RINGS_CLIENT_MEMORY_FILE_H_
#define IBEMU_TESTS_CUSE_RINGS_CLIENT_MEMORY_FILE_H_

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

#include "base/unique_fd.h"

namespace ibemu::cuse {

// A sealed memfd, and the client's own mapping of it.
class ClientMemoryFile {
 public:
  static constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;

  // `allocated`: how much of it is in memory.
  ClientMemoryFile(size_t size, int seals, size_t allocated) : size_(size) {
    Make(seals, allocated);
  }
  explicit ClientMemoryFile(size_t size, int seals = kSeals)
      : ClientMemoryFile(size, seals, size) {}
  ~ClientMemoryFile() { munmap(address_, size_); }
  ClientMemoryFile(const ClientMemoryFile&) = delete;
  ClientMemoryFile& operator=(const ClientMemoryFile&) = delete;

  // Puts a new file, all zero, into the place of the one that was shared.
  void Renew() { Make(kSeals, size_); }

  int fd() const { return fd_.get(); }
  void* address() const { return address_; }

 private:
  static void Require(bool holds) {
    if (!holds) std::abort();
  }

  void Make(int seals, size_t allocated) {
    fd_.Reset(memfd_create("rings", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    Require(ftruncate(fd_.get(), static_cast<off_t>(size_)) == 0);
    Require(allocated == 0 ||
            fallocate(fd_.get(), 0, 0, static_cast<off_t>(allocated)) == 0);
    Require(fcntl(fd_.get(), F_ADD_SEALS, seals) == 0);
    address_ =
        mmap(address_, size_, PROT_READ | PROT_WRITE,
             MAP_SHARED | (address_ == nullptr ? 0 : MAP_FIXED), fd_.get(), 0);
    Require(address_ != MAP_FAILED);
  }

  UniqueFd fd_;
  size_t size_;
  void* address_ = nullptr;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_TESTS_CUSE_RINGS_CLIENT_MEMORY_FILE_H_
