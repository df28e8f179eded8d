#include "daemon/draw_seed.h"

#include <sys/random.h>

namespace ibemu::daemon {

uint64_t DrawSeed() {
  uint32_t seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != sizeof seed) seed = 1;
  return seed;
}

}  // namespace ibemu::daemon
