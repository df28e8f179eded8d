#include "base/large_buffer.h"

#include <sys/mman.h>

#include <memory>

namespace ibemu {
namespace {

// The size on x86-64.  On machines with larger ones the request may have no
// effect.
constexpr size_t kHugePage = size_t{2} << 20;

}  // namespace

void ReserveLarge(std::vector<std::byte>& bytes, size_t capacity) {
  bytes.reserve(capacity);
  void* first = bytes.data();
  size_t room = bytes.capacity();
  if (std::align(kHugePage, kHugePage, first, room) == nullptr) return;
  // Only a request, whose failure is ignored: not every kernel has huge pages,
  // nor always one to spare.
  madvise(first, room - room % kHugePage, MADV_HUGEPAGE);
}

}  // namespace ibemu
