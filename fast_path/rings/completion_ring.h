// CompletionRing: completions that a client takes out of shared memory.
#ifndef IBEMU_FAST_PATH_RINGS_COMPLETION_RING_H_
#define IBEMU_FAST_PATH_RINGS_COMPLETION_RING_H_

#include <rdma/ib_user_verbs.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "fast_path/rings/slot_ring.h"

namespace ibemu::fast_path {

// A CompletionRing has copies of the oldest completions of one completion
// queue, for the client to take without asking.  Several threads of it may do
// so at the same time.  Completions are counted from when the ring was opened;
// numbers wrap around.
struct CompletionRing {
  static constexpr uint32_t kEntries = 32;

  struct Entry {
    ib_uverbs_wc completion;
    // Who takes this may post so many more sends to that queue pair, see
    // QueuePairPromise.
    uint64_t queue_pair;
    uint64_t frees_sends;
  };

  // The daemon's: the handle of the queue, plus 1; 0: there is none.
  alignas(kLine) std::atomic<uint64_t> queue;
  // How many completions were put here.
  std::atomic<uint32_t> producer;
  // Not 0: the queue may have some that are not here.
  std::atomic<uint32_t> has_more;

  // In the lower half how many completions were taken: the client's.  The upper
  // half is the daemon's: it changes whenever the ring is opened or closed, so
  // who has looked before takes nothing, and is odd as long as it is open.
  alignas(kLine) std::atomic<uint64_t> consumer;

  static constexpr size_t kWords = sizeof(Entry) / sizeof(uint64_t);
  alignas(kLine) std::atomic<uint64_t> entries[kEntries][kWords];

  static constexpr uint64_t Consumer(uint32_t changes, uint32_t taken) {
    return uint64_t{changes} << 32 | taken;
  }
  static constexpr uint32_t ChangesOf(uint64_t consumer) {
    return static_cast<uint32_t>(consumer >> 32);
  }
  static constexpr uint32_t TakenOf(uint64_t consumer) {
    return static_cast<uint32_t>(consumer);
  }
  static constexpr bool IsOpen(uint64_t consumer) {
    return (ChangesOf(consumer) & 1) != 0;
  }

  // Put and read an entry.  What was read while it may have been overwritten is
  // not to be used: then `consumer` has changed.
  void Put(uint32_t number, const Entry& entry) {
    const auto words = std::bit_cast<std::array<uint64_t, kWords>>(entry);
    for (size_t i = 0; i < kWords; ++i) {
      entries[number % kEntries][i].store(words[i], std::memory_order_relaxed);
    }
  }
  Entry At(uint32_t number) const {
    std::array<uint64_t, kWords> words;
    for (size_t i = 0; i < kWords; ++i) {
      words[i] = entries[number % kEntries][i].load(std::memory_order_relaxed);
    }
    return std::bit_cast<Entry>(words);
  }
};

}  // namespace ibemu::fast_path

#endif  // IBEMU_FAST_PATH_RINGS_COMPLETION_RING_H_
