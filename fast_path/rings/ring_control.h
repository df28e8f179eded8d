// RingControl: the beginning of all memory that an open device file shares.
#ifndef IBEMU_FAST_PATH_RINGS_RING_CONTROL_H_
#define IBEMU_FAST_PATH_RINGS_RING_CONTROL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fast_path/rings/slot_ring.h"

namespace ibemu::fast_path {

// The way that a call went: through a ring, or why not.  kWays is their number.
enum class Way : uint32_t {
  kRing,         // it did
  kAsleep,       // the daemon slept: the call wakes it
  kBusy,         // another thread or process was in the ring, or it was full
  kCommand,      // a call, agent, queue or MAD that only the daemon judges
  kOutstanding,  // another send may have the same TID
  kPage,         // the kernel has not seen this buffer before
  kEmpty,        // nothing to read there, or not enough room for it
  kWays,
};
inline constexpr size_t kWays = static_cast<size_t>(Way::kWays);

// The part that all rings of one open file share.  Memory of a client that has
// not attached yet is all zero.
struct RingControl {
  // The daemon's.  While it sleeps nobody looks at the rings: a call has to be
  // the device file's.  It does not, either, when they are closed for good: the
  // device is gone, the file is closed, or the client broke the rules.
  alignas(kLine) std::atomic<uint32_t> daemon_sleeps;
  std::atomic<uint32_t> closed;

  // The thread that fills the client's ring, or 0: a lock that nobody waits
  // for.
  alignas(kLine) std::atomic<uint32_t> filler;

  // A futex: it counts what the daemon has put into rings, and is woken if
  // `waiting` is not 0, which a client sets before it sleeps.
  alignas(kLine) std::atomic<uint32_t> event;
  std::atomic<uint32_t> waiting;

  // The client's: how many calls went which way.
  alignas(kLine) std::atomic<uint32_t> sent[kWays];
  alignas(kLine) std::atomic<uint32_t> received[kWays];

  // Returns true if what is put into a ring now is seen.
  bool IsServed() const {
    return (daemon_sleeps.load() | closed.load(std::memory_order_relaxed)) == 0;
  }
};

}  // namespace ibemu::fast_path

#endif  // IBEMU_FAST_PATH_RINGS_RING_CONTROL_H_
