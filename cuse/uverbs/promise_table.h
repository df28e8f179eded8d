// PromiseTable: the numbers of requests that a file's queue pairs promise to
// take from clients that do not wait.
#ifndef IBEMU_CUSE_UVERBS_PROMISE_TABLE_H_
#define IBEMU_CUSE_UVERBS_PROMISE_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "cuse/uverbs/promise_count.h"
#include "fast_path/rings/uverbs_ring_memory.h"
#include "verbs/uverbs/objects.h"

namespace ibemu::cuse {

// A PromiseTable tells a client, in memory that it shares, how many requests
// its queue pairs take, and counts those that it has posted without waiting.
// There is a place for each handle; of those with the same one, the last that
// was told of has it.
class PromiseTable {
 public:
  static constexpr size_t kPlaces = fast_path::UverbsRingMemory::kQueuePairs;
  using Told = std::span<fast_path::QueuePairPromise, kPlaces>;

  // `told` must outlive this object.
  explicit PromiseTable(Told told) : told_(told) {}

  // Tells what can be posted; null: the queue pair is gone.
  void Set(uint32_t handle, const verbs::QpObject* qp);

  // Counts requests that the client has posted without waiting.  Returns false
  // if so many were never promised.
  bool CountSends(uint32_t handle, uint32_t requests) {
    return PlaceOf(handle).sends.Post(requests);
  }
  bool CountReceives(uint32_t handle, uint32_t requests) {
    return PlaceOf(handle).receives.Post(requests);
  }

  // Returns true if the queue pair has a place.
  bool Knows(uint32_t handle) const {
    return places_[handle % kPlaces].handle == handle;
  }
  // Returns QueuePairPromise::queue_pair of a queue pair; 0: it has no place,
  // or who sends there always waits.
  uint64_t NameOfSender(uint32_t handle) const;
  // Completions that the client took out of a ring have freed entries of the
  // send queue: it has counted them, and from now on Set() does.
  void OnFreed(uint64_t name, uint32_t entries);

 private:
  // Whose it is, how often that has changed, and what the client may have
  // posted there without waiting, and has.
  struct Place {
    std::optional<uint32_t> handle;
    uint32_t changes = 0;
    PromiseCount sends, receives;
    bool takes_sends = false;  // that nobody waits for
    uint32_t freed = 0;        // entries, see OnFreed()
  };

  Place& PlaceOf(uint32_t handle) { return places_[handle % kPlaces]; }

  const Told told_;
  std::array<Place, kPlaces> places_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_UVERBS_PROMISE_TABLE_H_
