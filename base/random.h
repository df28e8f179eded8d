// Chance, seeded: the same seed gives the same losses on every machine.
#ifndef IBEMU_BASE_RANDOM_H_
#define IBEMU_BASE_RANDOM_H_

#include <cstdint>
#include <string_view>

namespace ibemu {

// One stream of random numbers.  No std:: distribution and no absl::BitGen:
// their results may change between library versions.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // A stream of its own for `name` (a link, say): it depends on the seed and
  // the name alone, so one more link does not change the chances of another.
  static Random ForStream(uint64_t seed, std::string_view name);

  uint64_t Next();

  // A number in [0, bound).  Requires bound > 0.
  uint64_t Below(uint64_t bound);

  // True with `probability` (0 never, 1 always), in steps of 2^-32.
  bool Chance(double probability);

 private:
  uint64_t state_;
};

}  // namespace ibemu

#endif  // IBEMU_BASE_RANDOM_H_
