// SlotRing: a queue in memory that two processes share.
#ifndef IBEMU_FAST_PATH_RINGS_SLOT_RING_H_
#define IBEMU_FAST_PATH_RINGS_SLOT_RING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ibemu::fast_path {

// The size of a line of the processors' caches: what one side writes and the
// other reads has lines of its own.
inline constexpr size_t kLine = 64;

// A queue of kSlots slots, from one producer to one or more consumers.
// Positions count slots since the beginning, so a ring is empty if they are the
// same.  Nothing of it can be believed that the other side may write: a daemon
// keeps its own position by itself and asks IsBroken().
//
// All functions are lock-free, and run in both processes.
template <class Slot, uint64_t kSlots>
struct SlotRing {
  static_assert((kSlots & (kSlots - 1)) == 0);
  static constexpr uint64_t kSize = kSlots;

  // Returns true if no ring has such positions.
  static bool IsBroken(uint64_t head, uint64_t tail) {
    return tail - head > kSlots;
  }

  bool empty() const {
    return head.load(std::memory_order_relaxed) ==
           tail.load(std::memory_order_acquire);
  }

  Slot& At(uint64_t position) { return slots[position % kSlots]; }

  // Lets consumers see the slots before `position`.  In one order with what
  // either side says before it sleeps.
  void Publish(uint64_t position) { tail.store(position); }

  // Takes the slot at `position`, whose content the caller has copied.  Returns
  // false if another consumer was faster, so that the copy is void.
  bool Take(uint64_t position) {
    return head.compare_exchange_strong(position, position + 1);
  }

  alignas(kLine) std::atomic<uint64_t> head;  // of the first that is filled
  alignas(kLine) std::atomic<uint64_t> tail;  // of the next to fill
  alignas(kLine) Slot slots[kSlots];
};

static_assert(std::atomic<uint64_t>::is_always_lock_free &&
              std::atomic<uint32_t>::is_always_lock_free);

}  // namespace ibemu::fast_path

#endif  // IBEMU_FAST_PATH_RINGS_SLOT_RING_H_
