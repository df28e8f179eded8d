// What is free of a piece of memory.
#ifndef IBEMU_HCA_MLX4_CORE_FREE_RUNS_H_
#define IBEMU_HCA_MLX4_CORE_FREE_RUNS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace ibemu::hca::mlx4 {

// Runs of units.  However small a client has them cut, to find one, and to find
// that there is none, takes about the same time: others wait for it, too.
class FreeRuns {
 public:
  // `count` units, at least 1, from `start` on.
  void Add(uint64_t start, uint64_t count);

  // Of the shortest run that is long enough the first `count`, at least 1; of
  // those that are equally short the lowest one's.  None when all are shorter.
  std::optional<uint64_t> Take(uint64_t count);

 private:
  using ByStart = std::map<uint64_t, uint64_t>;

  void Insert(uint64_t start, uint64_t count);
  ByStart::iterator Remove(ByStart::iterator run);

  ByStart by_start_;  // start to count; none touch
  std::set<std::pair<uint64_t, uint64_t>> by_count_;  // count and start
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_FREE_RUNS_H_
