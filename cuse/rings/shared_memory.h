// SharedMemory: memory that a client made and the daemon has mapped, too.
#ifndef IBEMU_CUSE_RINGS_SHARED_MEMORY_H_
#define IBEMU_CUSE_RINGS_SHARED_MEMORY_H_

#include <sys/types.h>

#include <cstddef>
#include <utility>

#include "absl/status/statusor.h"

namespace ibemu::cuse {

// A SharedMemory is a mapping of a client's memfd.  All its pages are there,
// the client has paid for them, and it can take none away, so whatever it does
// an access here never fails.
class SharedMemory {
 public:
  // Maps the memfd that is descriptor `number` of the process of `caller`, a
  // thread.  It must have `size` bytes, all of them in memory (fallocate(2)),
  // and the seals F_SEAL_SHRINK and F_SEAL_GROW, and no other.  It then gets
  // F_SEAL_FUTURE_WRITE and F_SEAL_SEAL: who has not mapped it yet can't.
  //
  // Errors: InvalidArgument for another descriptor, PermissionDenied where the
  // daemon may not look at the client, NotFound if there is no such descriptor,
  // and what mmap(2) says.
  static absl::StatusOr<SharedMemory> Of(pid_t caller, int number, size_t size);

  SharedMemory(SharedMemory&& other) noexcept
      : address_(std::exchange(other.address_, nullptr)),
        size_(other.size_),
        process_(other.process_) {}
  SharedMemory& operator=(SharedMemory&&) = delete;
  ~SharedMemory();

  void* address() const { return address_; }

  // The process of the client.
  pid_t process() const { return process_; }

 private:
  SharedMemory(void* address, size_t size, pid_t process)
      : address_(address), size_(size), process_(process) {}

  void* address_;
  size_t size_;
  pid_t process_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_RINGS_SHARED_MEMORY_H_
