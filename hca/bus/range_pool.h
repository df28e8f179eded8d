// RangePool: numbers that are given out in consecutive runs: addresses, queues,
// table entries.
#ifndef IBEMU_HCA_BUS_RANGE_POOL_H_
#define IBEMU_HCA_BUS_RANGE_POOL_H_

#include <cstdint>
#include <map>
#include <optional>

namespace ibemu::hca {

// A RangePool is a set of free numbers.  A run may be returned in parts, and
// joins those next to it.
class RangePool {
 public:
  // Adds `count` numbers from `start` on, which can be taken from now on.
  void Add(uint64_t start, uint64_t count);

  // Takes the lowest run of `count` (at least 1) consecutive numbers whose
  // first is divisible by `alignment`, a power of two.  Returns the first; none
  // if there is no such run.
  std::optional<uint64_t> Take(uint64_t count = 1, uint64_t alignment = 1);

  // Returns numbers that were taken.
  void Return(uint64_t start, uint64_t count = 1) { Add(start, count); }

 private:
  std::map<uint64_t, uint64_t>
      free_;  // start to count; no two runs are adjacent
};

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_RANGE_POOL_H_
