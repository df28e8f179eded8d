// KnownPages: pages of this process that the kernel has lately accessed.
#ifndef IBEMU_FAST_PATH_PRELOAD_KNOWN_PAGES_H_
#define IBEMU_FAST_PATH_PRELOAD_KNOWN_PAGES_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ibemu::fast_path {

// A KnownPages remembers pages that a read() or write() of the kernel has
// accessed in this process.  Any other buffer may be a bad pointer, which is
// EFAULT there and would be SIGSEGV here.  It forgets a page for another one of
// the same place in the table.  It is to live in memory that a forked child
// finds empty (MADV_WIPEONFORK), for it may not have all pages of its parent.
class KnownPages {
 public:
  // The kernel could read `size` bytes at `data`, or could write them.
  void Add(const void* data, size_t size) {
    const uintptr_t last = LastOf(data, size);
    if (size == 0 || last < FirstOf(data)) return;
    for (uintptr_t page = FirstOf(data); page <= last; ++page) {
      Place(page).store(page + 1, std::memory_order_relaxed);
    }
  }

  // Returns true if all of these bytes are in known pages.
  bool Has(const void* data, size_t size) const {
    const uintptr_t last = LastOf(data, size);
    if (last < FirstOf(data)) return false;  // beyond the last address
    for (uintptr_t page = FirstOf(data); page <= last; ++page) {
      if (Place(page).load(std::memory_order_relaxed) != page + 1) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kPlaces = 4096;
  static constexpr unsigned kPageBits = 12;  // the smallest there are

  static uintptr_t FirstOf(const void* data) {
    return reinterpret_cast<uintptr_t>(data) >> kPageBits;
  }
  static uintptr_t LastOf(const void* data, size_t size) {
    return (reinterpret_cast<uintptr_t>(data) + size - 1) >> kPageBits;
  }

  std::atomic<uintptr_t>& Place(uintptr_t page) {
    return pages_[page % kPlaces];
  }
  const std::atomic<uintptr_t>& Place(uintptr_t page) const {
    return pages_[page % kPlaces];
  }

  std::array<std::atomic<uintptr_t>, kPlaces> pages_;  // numbers + 1
};

}  // namespace ibemu::fast_path

#endif  // IBEMU_FAST_PATH_PRELOAD_KNOWN_PAGES_H_
