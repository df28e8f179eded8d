// libibemu-preload.so: the functions that programs in a run call instead of the
// C library's.  Each does its work through rings if it is surely the same, and
// calls the next one else.  What is not here (select, epoll, readv, ioctl, ...)
// is always the device file's.
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fast_path/preload/attached_files.h"
#include "fast_path/preload/errno_kept.h"
#include "fast_path/preload/next_calls.h"
#include "fast_path/preload/umad_client.h"
#include "fast_path/preload/umad_poll.h"
#include "fast_path/preload/uverbs_client.h"
#include "fast_path/rings/attach_rings.h"

// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" __attribute__((weak)) void __tsan_init();

#define IBEMU_EXPORT extern "C" __attribute__((visibility("default")))

namespace ibemu::fast_path {
namespace {

constinit AttachedFiles files;

[[gnu::constructor]] void Start() { FindNextCalls(); }

// ThreadSanitizer knows neither what goes through rings nor in which order.
bool IsWanted() {
  if (&__tsan_init != nullptr) return false;
  const char* const choice = std::getenv("IBEMU_FAST_PATH");
  return choice == nullptr || std::strcmp(choice, "0") != 0;
}

// Called with the result of each open().  The name only spares other files the
// question whether they have rings.
int Opened(int fd, const char* path, int flags) {
  if (fd < 0) return fd;
  // It may have been closed without us.
  files.Forget(static_cast<unsigned>(fd), static_cast<unsigned>(fd));
  if ((flags & O_ACCMODE) != O_RDWR) return fd;
  const char* const slash = std::strrchr(path, '/');
  const char* const name = slash == nullptr ? path : slash + 1;
  if (std::strncmp(name, "umad", 4) == 0 && IsWanted()) {
    files.Attach(fd, DeviceKind::kUmad);
  }
  if (std::strncmp(name, "uverbs", 6) == 0 && IsWanted()) {
    files.Attach(fd, DeviceKind::kUverbs);
  }
  return fd;
}

void CountWay(std::atomic<uint32_t> (&counts)[kWays], Way way) {
  counts[static_cast<size_t>(way)].fetch_add(1, std::memory_order_relaxed);
}

UmadRingMemory& MemoryOf(const AttachedFiles::Use& use) {
  return *static_cast<UmadRingMemory*>(use->rings);
}

// Returns true if the write() is done: `error` is its errno, or 0.
bool CommandByRing(const AttachedFiles::Use& use, int fd, const void* data,
                   size_t size, int& error) {
  // In a forked child the addresses are those of other memory.
  if (use->owner != files.facts()->process) return false;
  auto& memory = *static_cast<UverbsRingMemory*>(use->rings);
  const Way way =
      UverbsClient(memory, *files.facts(), fd).Write(data, size, error);
  CountWay(memory.control.sent, way);
  return way == Way::kRing;
}

// Returns true if the write() is done: `error` is its errno, or 0.
bool WriteByRing(int fd, const void* data, size_t size, int& error) {
  const ErrnoKept errno_kept;
  const AttachedFiles::Use use = files.Find(fd);
  if (!use) return false;
  if (use->kind == DeviceKind::kUverbs) {
    return CommandByRing(use, fd, data, size, error);
  }
  UmadClient client(MemoryOf(use), *files.facts());
  const Way way = client.Write(data, size);
  CountWay(MemoryOf(use).control.sent, way);
  if (way != Way::kRing) return false;
  // It may have gone to sleep after it was looked at.
  if (!client.IsServed()) ioctl(fd, kLookAtRings);
  return true;
}

bool ReadByRing(int fd, void* data, size_t size, size_t& length) {
  const AttachedFiles::Use use = files.Find(fd);
  if (!use || use->kind != DeviceKind::kUmad) return false;
  UmadClient client(MemoryOf(use), *files.facts());
  const Way way = client.Read(data, size, length);
  CountWay(MemoryOf(use).control.received, way);
  return way == Way::kRing;
}

bool HasRings(int fd) { return static_cast<bool>(files.Find(fd)); }

ssize_t Write(int fd, const void* data, size_t size) {
  if (!HasRings(fd)) return next_write(fd, data, size);
  pthread_testcancel();
  int error = 0;
  if (WriteByRing(fd, data, size, error)) {
    if (error == 0) return static_cast<ssize_t>(size);
    errno = error;
    return -1;
  }
  const ssize_t written = next_write(fd, data, size);
  if (written > 0) {
    files.facts()->readable.Add(data, static_cast<size_t>(written));
  }
  return written;
}

ssize_t Read(int fd, void* data, size_t size) {
  if (!HasRings(fd)) return next_read(fd, data, size);
  pthread_testcancel();
  size_t length;
  if (ReadByRing(fd, data, size, length)) return static_cast<ssize_t>(length);
  const ssize_t read = next_read(fd, data, size);
  if (read > 0) files.facts()->writable.Add(data, static_cast<size_t>(read));
  return read;
}

// An entry of a poll() that the kernel has not seen may be a bad pointer.
bool MayLookAt(const pollfd* entry, nfds_t count) {
  ProcessFacts* const facts = files.facts();
  return count == 1 && facts != nullptr &&
         facts->writable.Has(entry, sizeof *entry) && HasRings(entry->fd);
}

template <class Ask>
int Poll(pollfd* entries, nfds_t count, int timeout_ms, Ask ask) {
  if (MayLookAt(entries, count)) {
    pthread_testcancel();
    if (const auto result = PollUmad(files, *entries, timeout_ms)) {
      return *result;
    }
  }
  const int result = ask(timeout_ms);
  if (result >= 0 && count == 1 && files.facts() != nullptr) {
    files.facts()->writable.Add(entries, sizeof *entries);
  }
  return result;
}

int PollByTime(pollfd* entries, nfds_t count, int timeout_ms) {
  return Poll(entries, count, timeout_ms,
              [&](int left_ms) { return next_poll(entries, count, left_ms); });
}

// With a mask of signals, or with a time that is no number of milliseconds, it
// is the kernel's.
int PollByTimespec(pollfd* entries, nfds_t count, const timespec* timeout,
                   const sigset_t* mask) {
  if (mask != nullptr || timeout != nullptr) {
    return next_ppoll(entries, count, timeout, mask);
  }
  return Poll(entries, count, -1,
              [&](int) { return next_ppoll(entries, count, timeout, mask); });
}

mode_t ModeOf(int flags, va_list arguments) {
  const bool has_mode =
      (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return has_mode ? va_arg(arguments, mode_t) : 0;
}

}  // namespace
}  // namespace ibemu::fast_path

using namespace ibemu::fast_path;  // NOLINT: of the functions below

// The 64 bit variants are the same functions, where off_t has 64 bits.
static_assert(sizeof(off_t) == 8);

#define IBEMU_OPEN(name)                                      \
  IBEMU_EXPORT int name(const char* path, int flags, ...) {   \
    va_list arguments;                                        \
    va_start(arguments, flags);                               \
    const mode_t mode = ModeOf(flags, arguments);             \
    va_end(arguments);                                        \
    return Opened(next_open(path, flags, mode), path, flags); \
  }

#define IBEMU_OPENAT(name)                                                 \
  IBEMU_EXPORT int name(int directory, const char* path, int flags, ...) { \
    va_list arguments;                                                     \
    va_start(arguments, flags);                                            \
    const mode_t mode = ModeOf(flags, arguments);                          \
    va_end(arguments);                                                     \
    return Opened(next_openat(directory, path, flags, mode), path, flags); \
  }

IBEMU_OPEN(open)
IBEMU_OPEN(open64)
IBEMU_OPENAT(openat)
IBEMU_OPENAT(openat64)

// The names that calls have with _FORTIFY_SOURCE.
// NOLINTBEGIN(bugprone-reserved-identifier): the C library's own names
IBEMU_EXPORT int __open_2(const char* path, int flags) {
  return Opened(next_open_2(path, flags), path, flags);
}
IBEMU_EXPORT int __open64_2(const char* path, int flags) {
  return __open_2(path, flags);
}
IBEMU_EXPORT int __openat_2(int directory, const char* path, int flags) {
  return Opened(next_openat_2(directory, path, flags), path, flags);
}
IBEMU_EXPORT int __openat64_2(int directory, const char* path, int flags) {
  return __openat_2(directory, path, flags);
}
IBEMU_EXPORT ssize_t __read_chk(int fd, void* data, size_t size, size_t room) {
  if (size > room) return next_read_chk(fd, data, size, room);
  return Read(fd, data, size);
}
IBEMU_EXPORT int __poll_chk(pollfd* entries, nfds_t count, int timeout,
                            size_t room) {
  if (room / sizeof *entries < count) {
    return next_poll_chk(entries, count, timeout, room);
  }
  return PollByTime(entries, count, timeout);
}
IBEMU_EXPORT int __ppoll_chk(pollfd* entries, nfds_t count,
                             const timespec* timeout, const sigset_t* mask,
                             size_t room) {
  if (room / sizeof *entries < count) {
    return next_ppoll_chk(entries, count, timeout, mask, room);
  }
  return PollByTimespec(entries, count, timeout, mask);
}

// NOLINTEND(bugprone-reserved-identifier)

IBEMU_EXPORT ssize_t write(int fd, const void* data, size_t size) {
  return Write(fd, data, size);
}
IBEMU_EXPORT ssize_t read(int fd, void* data, size_t size) {
  return Read(fd, data, size);
}
IBEMU_EXPORT int poll(pollfd* entries, nfds_t count, int timeout) {
  return PollByTime(entries, count, timeout);
}
IBEMU_EXPORT int ppoll(pollfd* entries, nfds_t count, const timespec* timeout,
                       const sigset_t* mask) {
  return PollByTimespec(entries, count, timeout, mask);
}

IBEMU_EXPORT int close(int fd) {
  const auto number = static_cast<unsigned>(fd);
  files.Forget(number, number);
  return next_close(fd);
}
IBEMU_EXPORT int fclose(FILE* file) {
  {
    const ErrnoKept errno_kept;  // a stream need not have a descriptor
    const auto number = static_cast<unsigned>(fileno(file));
    files.Forget(number, number);
  }
  return next_fclose(file);
}
IBEMU_EXPORT int dup2(int from, int to) noexcept {
  if (from != to)
    files.Forget(static_cast<unsigned>(to), static_cast<unsigned>(to));
  return next_dup2(from, to);
}
IBEMU_EXPORT int dup3(int from, int to, int flags) noexcept {
  if (from != to)
    files.Forget(static_cast<unsigned>(to), static_cast<unsigned>(to));
  return next_dup3(from, to, flags);
}
IBEMU_EXPORT int close_range(unsigned first, unsigned last,
                             int flags) noexcept {
  files.Forget(first, last);
  return next_close_range(first, last, flags);
}
IBEMU_EXPORT void closefrom(int first) noexcept {
  files.Forget(first < 0 ? 0 : static_cast<unsigned>(first), UINT_MAX);
  next_closefrom(first);
}
