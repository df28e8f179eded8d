#include "fast_path/preload/attached_files.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "fast_path/rings/attach_rings.h"
#include "fast_path/rings/umad_ring_memory.h"
#include "fast_path/rings/uverbs_ring_memory.h"

namespace ibemu::fast_path {
namespace {

constexpr size_t SizeOf(DeviceKind kind) {
  return kind == DeviceKind::kUmad ? sizeof(UmadRingMemory)
                                   : sizeof(UverbsRingMemory);
}

// A call must not change errno if nothing of what it was called for failed.
class ErrnoKept {
 public:
  ErrnoKept() = default;
  ErrnoKept(const ErrnoKept&) = delete;
  ErrnoKept& operator=(const ErrnoKept&) = delete;
  ~ErrnoKept() { errno = before_; }

 private:
  const int before_ = errno;
};

// Makes rings and shares them with the daemon of `fd`.  Returns null if that
// can't be done.  System calls are made as such, for the functions are ours.
void* ShareRings(int fd, size_t size) {
  const int memory =
      memfd_create("ibemu-rings", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory < 0) return nullptr;
  void* rings = MAP_FAILED;
  if (ftruncate(memory, static_cast<off_t>(size)) == 0 &&
      fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) ==
          0) {
    rings = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  }
  AttachRings attach = {kRingsVersion, memory};
  if (rings != MAP_FAILED && ioctl(fd, kAttachRings, &attach) != 0) {
    munmap(rings, size);
    rings = MAP_FAILED;
  }
  syscall(SYS_close, memory);
  return rings == MAP_FAILED ? nullptr : rings;
}

}  // namespace

bool AttachedFiles::MakeFacts() {
  if (facts() != nullptr) return true;
  void* const made = mmap(nullptr, sizeof(ProcessFacts), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return false;
  ProcessFacts* none = nullptr;
  if (madvise(made, sizeof(ProcessFacts), MADV_WIPEONFORK) != 0 ||
      !facts_.compare_exchange_strong(none, static_cast<ProcessFacts*>(made))) {
    munmap(made, sizeof(ProcessFacts));
  }
  return facts() != nullptr;
}

// The entry that this returns belongs to the caller until its users are 0.
AttachedFile* AttachedFiles::NewFile() {
  for (AttachedFile& file : files_) {
    uint32_t nobody = 0;
    if (file.users.compare_exchange_strong(nobody, 1)) return &file;
  }
  return nullptr;
}

void AttachedFiles::Attach(int fd, DeviceKind kind) {
  const ErrnoKept errno_kept;
  if (static_cast<unsigned>(fd) >= kMost || !MakeFacts()) return;
  const pid_t process = getpid();
  facts()->process = process;
  AttachedFile* const file = NewFile();
  if (file == nullptr) return;
  file->kind = kind;
  file->size = SizeOf(kind);
  file->owner = process;
  file->rings = ShareRings(fd, file->size);
  if (file->rings == nullptr) {
    file->users.fetch_sub(1);
    return;
  }
  table_[fd].store(file, std::memory_order_release);
}

// Users that are 0 stay so until the entry belongs to somebody else; who then
// finds another file in the table, has held the wrong one.
AttachedFiles::Use AttachedFiles::Hold(int fd, AttachedFile* file) {
  uint32_t users = file->users.load();
  do {
    if (users == 0) return Use(nullptr);
  } while (!file->users.compare_exchange_weak(users, users + 1));
  Use use(file);
  return table_[fd].load() == file ? std::move(use) : Use(nullptr);
}

void AttachedFiles::Release(AttachedFile& file) {
  void* const rings = file.rings;
  const size_t size = file.size;
  if (file.users.fetch_sub(1) != 1) return;
  const ErrnoKept errno_kept;
  munmap(rings, size);
}

bool AttachedFiles::IsVforked() {
  const pid_t known = facts()->process;
  if (known == 0) {  // forked: the table is a copy
    facts()->process = getpid();
    return false;
  }
  return known != getpid();
}

void AttachedFiles::Forget(unsigned first, unsigned last) {
  if (facts() == nullptr) return;
  for (unsigned fd = first; fd <= std::min(last, kMost - 1); ++fd) {
    if (table_[fd].load(std::memory_order_relaxed) == nullptr || IsVforked()) {
      continue;
    }
    AttachedFile* const file = table_[fd].exchange(nullptr);
    if (file != nullptr) Release(*file);
  }
}

}  // namespace ibemu::fast_path
