#include "base/large_buffer.h"

#include <sys/mman.h>

#include <memory>

namespace ibemu {
namespace {

// Of x86-64; where they are larger the wish may be in vain.
constexpr size_t kHugePage = size_t{2} << 20;

}  // namespace

void ReserveLarge(std::vector<std::byte>& bytes, size_t capacity) {
  bytes.reserve(capacity);
  void* first = bytes.data();
  size_t room = bytes.capacity();
  if (std::align(kHugePage, kHugePage, first, room) == nullptr) return;
  // A wish: not every kernel has them, nor always one to spare.
  madvise(first, room - room % kHugePage, MADV_HUGEPAGE);
}

}  // namespace ibemu
