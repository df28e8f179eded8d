#include "daemon/memory_trim.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace ibemu::daemon {

MemoryTrim::Allocator MemoryTrim::Malloc() {
  return {.use =
              [] {
                size_t all = 0;
                size_t resident = 0;  // in pages
                std::ifstream("/proc/self/statm") >> all >> resident;
                const struct mallinfo2 info = mallinfo2();
                return Use{
                    .resident = resident * static_cast<size_t>(getpagesize()),
                    .allocated = info.uordblks + info.hblkhd};
              },
          .trim = [] { malloc_trim(0); }};
}

size_t MemoryTrim::SpareOf(const Use& use) {
  return use.resident > use.allocated ? use.resident - use.allocated : 0;
}

void MemoryTrim::Look() {
  const Use use = allocator_.use();
  const size_t spare = SpareOf(use);
  const size_t before = last_allocated_.value_or(use.allocated);
  const bool quiet =
      last_allocated_ &&
      std::max(before, use.allocated) - std::min(before, use.allocated) <
          kQuiet;
  last_allocated_ = use.allocated;
  least_spare_ = std::min(least_spare_, spare);
  if (!quiet || spare < least_spare_ + kWorthwhile) return;
  allocator_.trim();
  least_spare_ = SpareOf(allocator_.use());
}

}  // namespace ibemu::daemon
