#include "cuse/rings/shared_memory.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "absl/strings/str_format.h"
#include "base/unique_fd.h"
#include "cuse/client/caller_memory.h"

namespace ibemu::cuse {
namespace {

constexpr int kWanted = F_SEAL_SHRINK | F_SEAL_GROW;
// What vm.memfd_noexec adds.
constexpr int kNotExecutable = 0x20;  // F_SEAL_EXEC

// The device number of the file system that memfds are in; 0: there is none.
dev_t MemfdDevice() {
  static const dev_t device = [] {
    const UniqueFd own(memfd_create("ibemu", MFD_CLOEXEC));
    struct stat status;
    return own.valid() && fstat(own.get(), &status) == 0 ? status.st_dev : 0;
  }();
  return device;
}

// Opens what descriptor `number` of the process is, if that is in memory.  Of
// anything else nothing is held but a path: to ask the file, and to close it,
// may take as long as its file system likes, which may be the client's own.
absl::StatusOr<UniqueFd> OpenMemory(pid_t process, int number) {
  const std::string name = absl::StrFormat("/proc/%d/fd/%d", process, number);
  const UniqueFd path(open(name.c_str(), O_PATH | O_CLOEXEC));
  if (!path.valid()) return absl::ErrnoToStatus(errno, name);
  struct statx status;
  if (statx(path.get(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &status) !=
          0 ||
      makedev(status.stx_dev_major, status.stx_dev_minor) != MemfdDevice()) {
    return absl::InvalidArgumentError("it is no memfd");
  }
  UniqueFd memory(open(absl::StrFormat("/proc/self/fd/%d", path.get()).c_str(),
                       O_RDWR | O_CLOEXEC));
  if (!memory.valid()) return absl::ErrnoToStatus(errno, "open");
  return memory;
}

// Makes sure that no page of the memory can be taken away from it again, and
// that all of them are there.
bool Secure(const UniqueFd& memory, size_t size) {
  struct stat status;
  return fcntl(memory.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) ==
             0 &&
         fstat(memory.get(), &status) == 0 &&
         status.st_size == static_cast<off_t>(size) &&
         static_cast<size_t>(status.st_blocks) * 512 >= size;
}

}  // namespace

absl::StatusOr<SharedMemory> SharedMemory::Of(pid_t caller, int number,
                                              size_t size) {
  const auto process = static_cast<pid_t>(ClientOf(caller));
  const absl::StatusOr<UniqueFd> memory = OpenMemory(process, number);
  if (!memory.ok()) return memory.status();
  if ((fcntl(memory->get(), F_GET_SEALS) & ~kNotExecutable) != kWanted) {
    return absl::InvalidArgumentError(
        absl::StrFormat("descriptor %d is no memfd with its seals", number));
  }
  void* const address =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory->get(), 0);
  if (address == MAP_FAILED) return absl::ErrnoToStatus(errno, "mmap");
  SharedMemory shared(address, size, process);
  if (!Secure(*memory, size)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "descriptor %d has no %d bytes that stay", number, size));
  }
  return shared;
}

SharedMemory::~SharedMemory() {
  if (address_ != nullptr) munmap(address_, size_);
}

}  // namespace ibemu::cuse
