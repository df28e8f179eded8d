#include "hca/mlx4/core/free_runs.h"

#include <iterator>

namespace ibemu::hca::mlx4 {

void FreeRuns::Insert(uint64_t start, uint64_t count) {
  by_start_[start] = count;
  by_count_.emplace(count, start);
}

FreeRuns::ByStart::iterator FreeRuns::Remove(ByStart::iterator run) {
  by_count_.erase({run->second, run->first});
  return by_start_.erase(run);
}

void FreeRuns::Add(uint64_t start, uint64_t count) {
  auto next = by_start_.lower_bound(start);
  if (next != by_start_.end() && start + count == next->first) {
    count += next->second;
    next = Remove(next);
  }
  if (next != by_start_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == start) {
      start = before->first;
      count += before->second;
      Remove(before);
    }
  }
  Insert(start, count);
}

std::optional<uint64_t> FreeRuns::Take(uint64_t count) {
  const auto shortest = by_count_.lower_bound({count, 0});
  if (shortest == by_count_.end()) return std::nullopt;
  const auto [length, start] = *shortest;
  Remove(by_start_.find(start));
  if (length != count) Insert(start + count, length - count);
  return start;
}

}  // namespace ibemu::hca::mlx4
