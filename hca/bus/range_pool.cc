#include "hca/bus/range_pool.h"

#include <cassert>
#include <iterator>

namespace ibemu::hca {

void RangePool::Add(uint64_t start, uint64_t count) {
  if (count == 0) return;
  auto next = free_.lower_bound(start);
  if (next != free_.end() && start + count == next->first) {
    count += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == start) {
      before->second += count;
      return;
    }
  }
  free_[start] = count;
}

std::optional<uint64_t> RangePool::Take(uint64_t count, uint64_t alignment) {
  assert(count != 0 && (alignment & (alignment - 1)) == 0);
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const auto [start, length] = *range;
    const uint64_t aligned = (start + alignment - 1) & ~(alignment - 1);
    const uint64_t skipped = aligned - start;
    if (skipped > length || length - skipped < count) continue;
    free_.erase(range);
    if (skipped != 0) free_[start] = skipped;
    if (const uint64_t rest = length - skipped - count; rest != 0) {
      free_[aligned + count] = rest;
    }
    return aligned;
  }
  return std::nullopt;
}

}  // namespace ibemu::hca
