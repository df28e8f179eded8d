#include "hca/bus/mapped_bar.h"

#include <sys/mman.h>

#include <atomic>
#include <cassert>
#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/absl_text.h"
#include "hca/bus/big_endian.h"

namespace ibemu::hca {

absl::StatusOr<std::unique_ptr<MappedBar>> MappedBar::Map(
    int fd, off_t offset, size_t size, std::string_view name) {
  void* const start =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
  if (start == MAP_FAILED) {
    return absl::UnavailableError(absl::StrCat(
        Absl(name), ": the kernel does not map it: ", std::strerror(errno),
        " (a kernel in lockdown, or a driver that holds the range)"));
  }
  return std::unique_ptr<MappedBar>(
      new MappedBar(static_cast<std::byte*>(start), size));
}

MappedBar::~MappedBar() { munmap(start_, size_); }

// Each access is a single access of the processor, in program order: what was
// written to memory before a doorbell is visible before it rings.

uint32_t MappedBar::Read32(size_t offset) {
  assert(offset + 4 <= size_ && offset % 4 == 0);
  const uint32_t value =
      *reinterpret_cast<const volatile uint32_t*>(start_ + offset);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return ToBus(value);
}

void MappedBar::Write32(size_t offset, uint32_t value) {
  assert(offset + 4 <= size_ && offset % 4 == 0);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  *reinterpret_cast<volatile uint32_t*>(start_ + offset) = ToBus(value);
}

void MappedBar::Write64(size_t offset, uint64_t value) {
  assert(offset + 8 <= size_ && offset % 8 == 0);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  *reinterpret_cast<volatile uint64_t*>(start_ + offset) = ToBus(value);
}

}  // namespace ibemu::hca
