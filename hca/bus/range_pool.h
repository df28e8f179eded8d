// Numbers that are given out in runs: addresses, queues, table entries.
#ifndef IBEMU_HCA_BUS_RANGE_POOL_H_
#define IBEMU_HCA_BUS_RANGE_POOL_H_

#include <cstdint>
#include <map>
#include <optional>

namespace ibemu::hca {

class RangePool {
 public:
  // Adds `count` numbers from `start`, which are given out from now on.
  void Add(uint64_t start, uint64_t count);

  // The first of `count` (at least 1) that follow each other, lowest first;
  // divisible by `alignment`, a power of two.  None when there is no such run.
  std::optional<uint64_t> Take(uint64_t count = 1, uint64_t alignment = 1);

  // As they were taken.
  void Return(uint64_t start, uint64_t count = 1) { Add(start, count); }

 private:
  std::map<uint64_t, uint64_t> free_;  // start to count; none touch
};

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_RANGE_POOL_H_
