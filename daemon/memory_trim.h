// MemoryTrim: the return to the system of memory that the daemon no longer
// uses.
#ifndef IBEMU_DAEMON_MEMORY_TRIM_H_
#define IBEMU_DAEMON_MEMORY_TRIM_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

namespace ibemu::daemon {

// A MemoryTrim has malloc() give back what was freed, which that of glibc keeps
// unless it is last in its heap: of 400,000 sends whose file was closed, 270
// MiB.  That takes some milliseconds, so it is done when there is much to give
// back, and nothing goes on.
class MemoryTrim {
 public:
  // In bytes.
  struct Use {
    size_t resident = 0;   // of the process
    size_t allocated = 0;  // by malloc(), and not freed
  };
  struct Allocator {
    std::function<Use()> use;
    std::function<void()> trim;
  };

  static constexpr size_t kWorthwhile = size_t{32} << 20;
  // The change from one look to the next with which nothing goes on.
  static constexpr size_t kQuiet = size_t{1} << 20;

  explicit MemoryTrim(Allocator allocator) : allocator_(std::move(allocator)) {}

  // Returns that of this process.
  static Allocator Malloc();

  // Called now and then: gives back what is worthwhile in a quiet moment.
  void Look();

 private:
  // Resident, but not allocated: also the program itself.
  static size_t SpareOf(const Use& use);

  Allocator allocator_;
  std::optional<size_t> last_allocated_;
  // The least that was to spare since memory was given back; 0 before.
  size_t least_spare_ = 0;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_MEMORY_TRIM_H_
