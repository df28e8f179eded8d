// FreeRuns: the free parts of a piece of memory.
#ifndef IBEMU_HCA_MLX4_CORE_FREE_RUNS_H_
#define IBEMU_HCA_MLX4_CORE_FREE_RUNS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace ibemu::hca::mlx4 {

// A set of runs of free units.  Take() needs about the same time however finely
// a client has divided the memory, even if it finds nothing, because other
// clients wait for it, too.
class FreeRuns {
 public:
  // Adds `count` units, at least 1, from `start` on.
  void Add(uint64_t start, uint64_t count);

  // Takes the first `count` units, at least 1, of the shortest run that is long
  // enough; of several such runs, of the lowest.  Returns the first unit; none
  // if all runs are too short.
  std::optional<uint64_t> Take(uint64_t count);

 private:
  using ByStart = std::map<uint64_t, uint64_t>;

  void Insert(uint64_t start, uint64_t count);
  ByStart::iterator Remove(ByStart::iterator run);

  ByStart by_start_;  // start to count; no two runs are adjacent
  std::set<std::pair<uint64_t, uint64_t>> by_count_;  // count and start
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_FREE_RUNS_H_
