// A seed that nobody chose.
#ifndef IBEMU_DAEMON_DRAW_SEED_H_
#define IBEMU_DAEMON_DRAW_SEED_H_

#include <cstdint>

namespace ibemu::daemon {

// Returns a number of the kernel's choice, short enough to be typed again.
uint64_t DrawSeed();

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_DRAW_SEED_H_
