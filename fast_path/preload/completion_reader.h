// CompletionReader: the client's side of a CompletionRing.
#ifndef IBEMU_FAST_PATH_PRELOAD_COMPLETION_READER_H_
#define IBEMU_FAST_PATH_PRELOAD_COMPLETION_READER_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fast_path/rings/completion_ring.h"

namespace ibemu::fast_path {

// A CompletionReader is one poll of a completion queue, as far as the queue's
// ring can answer it.
class CompletionReader {
 public:
  enum class Found {
    kSome,     // they are the caller's now
    kNone,     // the queue is empty
    kUnknown,  // the daemon has to be asked
  };

  // Takes up to `most` completions of a queue, oldest first.
  Found Take(CompletionRing& ring, uint32_t queue, size_t most) {
    for (;;) {
      uint64_t consumer = ring.consumer.load();
      if (ring.queue.load() != uint64_t{queue} + 1 ||
          !CompletionRing::IsOpen(consumer)) {
        return Found::kUnknown;
      }
      // Read before `producer`: the daemon says so only while the ring is full.
      const bool has_more = ring.has_more.load() != 0;
      const uint32_t first = CompletionRing::TakenOf(consumer);
      const uint32_t there = ring.producer.load() - first;
      if (there == 0) {
        if (ring.consumer.load() != consumer) continue;
        return has_more ? Found::kUnknown : Found::kNone;
      }
      const auto count = static_cast<uint32_t>(
          std::min<size_t>({there, most, CompletionRing::kEntries}));
      for (uint32_t i = 0; i < count; ++i) entries_[i] = ring.At(first + i);
      if (ring.consumer.compare_exchange_strong(
              consumer,
              CompletionRing::Consumer(CompletionRing::ChangesOf(consumer),
                                       first + count))) {
        count_ = count;
        return Found::kSome;
      }
    }
  }

  // What was taken.
  std::span<const CompletionRing::Entry> entries() const {
    return std::span(entries_).first(count_);
  }

 private:
  std::array<CompletionRing::Entry, CompletionRing::kEntries> entries_;
  uint32_t count_ = 0;
};

}  // namespace ibemu::fast_path

#endif  // IBEMU_FAST_PATH_PRELOAD_COMPLETION_READER_H_
