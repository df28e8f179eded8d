#include "cuse/rings/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "absl/strings/str_format.h"
#include "base/pidfd.h"
#include "base/unique_fd.h"
#include "cuse/client/caller_memory.h"

namespace ibemu::cuse {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

absl::StatusOr<UniqueFd> DescriptorOf(pid_t process, int number) {
  const UniqueFd client(pidfd_open(process, 0));
  if (!client.valid()) return absl::ErrnoToStatus(errno, "pidfd_open");
  UniqueFd taken(pidfd_getfd(client.get(), number, 0));
  if (taken.valid()) return taken;
  if (errno == EBADF) {
    return absl::InvalidArgumentError(
        absl::StrFormat("descriptor %d is not open", number));
  }
  return absl::ErrnoToStatus(errno, "pidfd_getfd");
}

}  // namespace

absl::StatusOr<SharedMemory> SharedMemory::Of(pid_t caller, int number,
                                              size_t size) {
  const auto process = static_cast<pid_t>(ClientOf(caller));
  absl::StatusOr<UniqueFd> memory = DescriptorOf(process, number);
  if (!memory.ok()) return memory.status();
  struct stat status;
  if (fcntl(memory->get(), F_GET_SEALS) != kSeals ||
      fstat(memory->get(), &status) != 0 ||
      status.st_size != static_cast<off_t>(size)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "descriptor %d is no memfd of %d bytes with its seals", number, size));
  }
  void* const address =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory->get(), 0);
  if (address == MAP_FAILED) return absl::ErrnoToStatus(errno, "mmap");
  return SharedMemory(address, size, process);
}

SharedMemory::~SharedMemory() {
  if (address_ != nullptr) munmap(address_, size_);
}

}  // namespace ibemu::cuse
