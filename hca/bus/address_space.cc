#include "hca/bus/address_space.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ibemu::hca {

AddressSpace::AddressSpace(const std::vector<Range>& usable) {
  for (const Range& range : usable) {
    const uint64_t start =
        RoundUpToPage(std::max<uint64_t>(range.start, kPageSize));
    // The end of 2^64 would not fit: the last page stays where it is.
    const uint64_t end =
        (range.last & ~(kPageSize - 1)) +
        ((range.last + 1) % kPageSize == 0 && range.last != UINT64_MAX
             ? kPageSize
             : 0);
    if (end > start) free_[start] = end - start;
  }
}

absl::StatusOr<uint64_t> AddressSpace::Take(uint64_t size, uint64_t alignment) {
  assert(alignment >= kPageSize && (alignment & (alignment - 1)) == 0);
  size = RoundUpToPage(size);
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const auto [start, length] = *range;
    const uint64_t aligned = (start + alignment - 1) & ~(alignment - 1);
    const uint64_t skipped = aligned - start;
    if (size == 0 || skipped > length || length - skipped < size) continue;
    free_.erase(range);
    if (skipped != 0) free_[start] = skipped;
    if (const uint64_t rest = length - skipped - size; rest != 0) {
      free_[aligned + size] = rest;
    }
    return aligned;
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "no room for ", size, " bytes among the function's bus addresses"));
}

void AddressSpace::Return(uint64_t start, uint64_t size) {
  size = RoundUpToPage(size);
  auto next = free_.lower_bound(start);
  if (next != free_.end() && start + size == next->first) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == start) {
      before->second += size;
      return;
    }
  }
  free_[start] = size;
}

}  // namespace ibemu::hca
