// Seeded random numbers: the same seed gives the same losses on every machine.
#ifndef IBEMU_BASE_RANDOM_H_
#define IBEMU_BASE_RANDOM_H_

#include <cstdint>
#include <string_view>

namespace ibemu {

// A Random is one stream of random numbers.  It uses no std:: distribution and
// no absl::BitGen because their results may change between library versions.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // Returns a separate stream for `name` (that of a link, say).  It depends on
  // the seed and the name alone, so one more link does not change the random
  // numbers of another.
  static Random ForStream(uint64_t seed, std::string_view name);

  uint64_t Next();

  // Returns a number in [0, bound).  Requires bound > 0.
  uint64_t Below(uint64_t bound);

  // Returns true with `probability` (0: never, 1: always), in steps of 2^-32.
  bool Chance(double probability);

 private:
  uint64_t state_;
};

}  // namespace ibemu

#endif  // IBEMU_BASE_RANDOM_H_
