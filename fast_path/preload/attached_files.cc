#include "fast_path/preload/attached_files.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "fast_path/preload/errno_kept.h"
#include "fast_path/rings/attach_rings.h"
#include "fast_path/rings/umad_ring_memory.h"
#include "fast_path/rings/uverbs_ring_memory.h"

namespace ibemu::fast_path {
namespace {

constexpr size_t SizeOf(DeviceKind kind) {
  return kind == DeviceKind::kUmad ? sizeof(UmadRingMemory)
                                   : sizeof(UverbsRingMemory);
}

constexpr unsigned kNotExecutable = 0x0008;  // MFD_NOEXEC_SEAL, Linux 6.3

int NewMemory() {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const int memory = memfd_create("ibemu-rings", kFlags | kNotExecutable);
  return memory >= 0 ? memory : memfd_create("ibemu-rings", kFlags);
}

// Returns false if the process may not have files of that size: it would get a
// signal.
bool MayHave(size_t size) {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= size;
}

// Makes rings and shares them with the daemon of `fd`.  Returns null if that
// can't be done.  System calls are made as such, for the functions are ours.
void* ShareRings(int fd, DeviceKind kind, size_t size) {
  if (!MayHave(size)) return nullptr;
  const int memory = NewMemory();
  if (memory < 0) return nullptr;
  void* rings = MAP_FAILED;
  if (ftruncate(memory, static_cast<off_t>(size)) == 0 &&
      fallocate(memory, 0, 0, static_cast<off_t>(size)) == 0 &&
      fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0) {
    rings = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  }
  // What a child may do with a verbs file is not what its parent may.
  const bool is_private =
      kind != DeviceKind::kUverbs ||
      (rings != MAP_FAILED && madvise(rings, size, MADV_DONTFORK) == 0);
  AttachRings attach = {kRingsVersion, memory};
  if (rings != MAP_FAILED &&
      (!is_private || ioctl(fd, kAttachRings, &attach) != 0)) {
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
    if (file.users.compare_exchange_strong(nobody, AttachedFile::kChanging)) {
      return &file;
    }
  }
  return nullptr;
}

void AttachedFiles::Attach(int fd, DeviceKind kind) {
  const ErrnoKept errno_kept;
  if (static_cast<unsigned>(fd) >= kMax || !MakeFacts()) return;
  const pid_t process = getpid();
  facts()->process = process;
  AttachedFile* const file = NewFile();
  if (file == nullptr) return;
  file->kind = kind;
  file->size = SizeOf(kind);
  file->owner = process;
  file->rings = ShareRings(fd, kind, file->size);
  if (file->rings == nullptr) {
    file->users.store(0);
    return;
  }
  file->users.store(1);
  table_[fd].store(file, std::memory_order_release);
}

// Users that are 0 stay so until the entry belongs to somebody else; who then
// finds another file in the table, has held the wrong one.
AttachedFiles::Use AttachedFiles::Hold(int fd, AttachedFile* file) {
  uint32_t users = file->users.load();
  do {
    if (users == 0 || users == AttachedFile::kChanging) return Use(nullptr);
  } while (!file->users.compare_exchange_weak(users, users + 1));
  Use use(file);
  return table_[fd].load() == file ? std::move(use) : Use(nullptr);
}

// A forked child has no mapping of what is private to its parent, and may have
// another one there.
void AttachedFiles::Release(AttachedFile& file) {
  uint32_t users = file.users.load();
  while (!file.users.compare_exchange_weak(
      users, users == 1 ? AttachedFile::kChanging : users - 1)) {
  }
  if (users != 1) return;
  const ErrnoKept errno_kept;
  if (file.kind != DeviceKind::kUverbs || file.owner == getpid()) {
    munmap(file.rings, file.size);
  }
  file.users.store(0);
}

// A forked child finds no process until it has a file of its own, and so does
// each child that it has by vfork(): those then forget what is their parent's,
// which costs it the rings and nothing else.
bool AttachedFiles::IsVforked() {
  const pid_t known = facts()->process;
  return known != 0 && known != getpid();
}

void AttachedFiles::Forget(unsigned first, unsigned last) {
  if (facts() == nullptr) return;
  for (unsigned fd = first; fd <= std::min(last, kMax - 1); ++fd) {
    if (table_[fd].load(std::memory_order_relaxed) == nullptr || IsVforked()) {
      continue;
    }
    AttachedFile* const file = table_[fd].exchange(nullptr);
    if (file != nullptr) Release(*file);
  }
}

}  // namespace ibemu::fast_path
