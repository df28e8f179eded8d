#include "cuse/client/read_memory.h"

#include <sys/uio.h>

#include <cerrno>

namespace ibemu::cuse {

absl::Status ReadMemory(pid_t tid, uint64_t address,
                        std::span<std::byte> data) {
  const iovec local = {data.data(), data.size()};
  const iovec remote = {reinterpret_cast<void*>(address), data.size()};
  const ssize_t done = process_vm_readv(tid, &local, 1, &remote, 1, 0);
  if (done < 0 && errno != EFAULT) {
    return absl::ErrnoToStatus(errno, "process_vm_readv");
  }
  if (done < 0 || static_cast<size_t>(done) < data.size()) {
    return absl::FailedPreconditionError("not all of it can be read");
  }
  return absl::OkStatus();
}

}  // namespace ibemu::cuse
