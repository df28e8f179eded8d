// AttachedFiles: the descriptors of this process whose files have rings.
#ifndef IBEMU_FAST_PATH_PRELOAD_ATTACHED_FILES_H_
#define IBEMU_FAST_PATH_PRELOAD_ATTACHED_FILES_H_

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/yield_backoff.h"
#include "fast_path/preload/known_pages.h"

namespace ibemu::fast_path {

// The kinds of devices whose files may have rings.
enum class DeviceKind : uint8_t { kUmad, kUverbs };

// Facts about this process.  A forked child finds them all zero.
struct ProcessFacts {
  KnownPages readable;  // for the kernel
  KnownPages writable;
  std::atomic<pid_t> process;  // its id, or 0
  YieldBackoff yields;
};

// One open file with rings.  It is never freed, only used again, so whoever
// finds one in a table may look at it.
struct AttachedFile {
  // In place of users: nobody can become one, as its rings come or go.
  static constexpr uint32_t kChanging = ~uint32_t{0};

  DeviceKind kind = DeviceKind::kUmad;
  void* rings = nullptr;  // of the kind; mapped while `users` is not 0
  size_t size = 0;
  pid_t owner = 0;  // the process that attached them
  // When the kernel was last asked for events, in ns of CLOCK_MONOTONIC: only
  // so one learns that a daemon was killed.
  std::atomic<int64_t> asked = 0;
  // The calls that are in the rings now, and 1 as long as it is in the table.
  std::atomic<uint32_t> users = 0;
};

// A table of files by the numbers of their descriptors.  All functions are safe
// in any thread, in signal handlers and after fork(), except Attach() in a
// handler; none changes errno.
class AttachedFiles {
 public:
  // A use of a file: its rings stay mapped meanwhile.
  class Use {
   public:
    explicit Use(AttachedFile* file) : file_(file) {}
    Use(Use&& other) noexcept : file_(std::exchange(other.file_, nullptr)) {}
    Use& operator=(Use&&) = delete;
    ~Use() {
      if (file_ != nullptr) Release(*file_);
    }

    explicit operator bool() const { return file_ != nullptr; }
    AttachedFile* operator->() const { return file_; }

   private:
    AttachedFile* file_;
  };

  // Returns the use of a descriptor's file; an empty one if it has no rings
  // that we know of.
  Use Find(int fd) {
    if (static_cast<unsigned>(fd) >= kMax) return Use(nullptr);
    AttachedFile* const file = table_[fd].load(std::memory_order_acquire);
    return file == nullptr ? Use(nullptr) : Hold(fd, file);
  }

  // Gives rings to the file that was just opened as `fd`, if it is one of a
  // daemon that has rings, and this process may share memory.  REQUIRES:
  // nothing is known of `fd`.
  void Attach(int fd, DeviceKind kind);

  // Forgets descriptors that are about to be closed: first to last.
  void Forget(unsigned first, unsigned last);

  // Null as long as no file was attached.
  ProcessFacts* facts() { return facts_.load(std::memory_order_acquire); }

 private:
  static constexpr unsigned kMax = 4096;  // larger numbers have no rings
  static constexpr size_t kFiles = 64;    // a daemon gives a user no more

  Use Hold(int fd, AttachedFile* file);
  static void Release(AttachedFile& file);
  AttachedFile* NewFile();
  bool MakeFacts();
  // Returns true in a child of vfork(), who shares this table with its parent,
  // but not the descriptors.
  bool IsVforked();

  std::atomic<AttachedFile*> table_[kMax] = {};
  AttachedFile files_[kFiles] = {};
  std::atomic<ProcessFacts*> facts_ = nullptr;
};

}  // namespace ibemu::fast_path

#endif  // IBEMU_FAST_PATH_PRELOAD_ATTACHED_FILES_H_
