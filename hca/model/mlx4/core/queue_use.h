// QueueUse: statistics of the use of queues, which show whether software has
// wrapped around them.
#ifndef IBEMU_HCA_MODEL_MLX4_CORE_QUEUE_USE_H_
#define IBEMU_HCA_MODEL_MLX4_CORE_QUEUE_USE_H_

#include <compare>
#include <cstdint>
#include <map>
#include <string_view>

namespace ibemu::hca::model::mlx4 {

enum class QueueKind { kEvents, kCompletions, kSends, kReceives, kShared };

// "eq", "cq", "sq", "rq", "srq".
std::string_view QueueKindName(QueueKind kind);

// The kind and size of a queue.  Queues of one sort differ only in their
// numbers.
struct QueueSort {
  QueueKind kind{};
  uint32_t size = 0;  // entries

  // clang-tidy 14 takes the 0 that this compares with for a pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  auto operator<=>(const QueueSort&) const = default;
};

// The use of all queues of one sort.  A queue that never took an entry does not
// count.
struct QueueUse {
  uint64_t queues = 0;
  // The least and the most entries that one queue took while it was the
  // adapter's.
  uint64_t least = 0;
  uint64_t most = 0;
};

using QueueUses = std::map<QueueSort, QueueUse>;

// A counter of the entries of one queue, which adds them to `uses` when the
// queue ends.
class EntryCount {
 public:
  // `uses` is not owned.
  EntryCount(QueueUses& uses, const QueueSort& sort)
      : uses_(uses), sort_(sort) {}
  ~EntryCount() { Finish(); }
  EntryCount(const EntryCount&) = delete;
  EntryCount& operator=(const EntryCount&) = delete;

  void Add() { ++entries_; }
  // Ends the count, and begins a new one for a queue of `size` entries.
  void Resize(uint32_t size);

 private:
  void Finish();

  QueueUses& uses_;
  QueueSort sort_;
  uint64_t entries_ = 0;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_CORE_QUEUE_USE_H_
