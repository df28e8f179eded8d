// Memory of the driver that messages pass through.
#ifndef IBEMU_HCA_MLX4_VERBS_DMA_POOL_H_
#define IBEMU_HCA_MLX4_VERBS_DMA_POOL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "base/timers.h"
#include "hca/bus/pci_function.h"
#include "hca/mlx4/core/free_runs.h"
#include "hca/mlx4/verbs/memory_shares.h"

namespace ibemu::hca::mlx4 {

// Parts of larger pieces: to map each message by itself would cost a system
// call, and a page.
//
// Whoever has a part may keep it for ever: a send to somebody who takes
// nothing, a receive that nothing comes for.  So each process has a piece of
// its own, which is enough for any message, beside its share of what is for all
// (MemoryShares); and no more processes take part than there are pieces for.
class DmaPool {
 public:
  // A piece, in bytes.
  static constexpr size_t kArena = kDmaPiece;
  // Processes at a time.
  static constexpr size_t kMaxShares = 64;

  class Share;
  class Buffer;

  // `common`: bytes for all, a multiple of kArena; kMaxShares pieces more may
  // be asked of the function.  Both references must outlive it.
  DmaPool(PciFunction& function, Timers& timers, size_t common)
      : function_(function),
        timers_(timers),
        common_size_(common),
        common_(common) {}
  ~DmaPool();
  DmaPool(const DmaPool&) = delete;
  DmaPool& operator=(const DmaPool&) = delete;

  // That of `process`, as long as anybody has it or something taken from it.
  //
  // Errors: ResourceExhausted, too many processes have one.
  absl::StatusOr<std::shared_ptr<Share>> ShareOf(uint64_t process);

  // `size`: 1 to kArena bytes, in one piece; of any value.  A share of which
  // nothing is taken has that much, unless the machine has not.
  //
  // Errors: ResourceExhausted, `share` has no more; InvalidArgument, too long;
  // those of PciFunction::Allocate().
  absl::StatusOr<std::unique_ptr<Buffer>> Take(
      const std::shared_ptr<Share>& share, size_t size);

  // Calls `again` once, when something has come back: not from within the call
  // that brings it.  Of each `who` it keeps the last one, until StopWaiting().
  void CallWhenReturned(const void* who, std::function<void()> again);
  void StopWaiting(const void* who);

  size_t in_use() const { return in_use_; }  // bytes, rounded up

 private:
  struct Arena {
    std::unique_ptr<DmaMemory> memory;
    FreeRuns free;  // units
  };

  absl::StatusOr<std::unique_ptr<Arena>> MakeArena();
  std::unique_ptr<Buffer> TakeCommon(const std::shared_ptr<Share>& share,
                                     size_t size);
  std::unique_ptr<Buffer> TakeFrom(Arena& arena,
                                   const std::shared_ptr<Share>& share,
                                   size_t size);
  void Return(const Buffer& buffer);

  PciFunction& function_;
  Timers& timers_;
  const size_t common_size_;
  MemoryShares common_;
  size_t in_use_ = 0;
  std::vector<std::unique_ptr<Arena>> arenas_;  // for all
  absl::flat_hash_map<uint64_t, std::weak_ptr<Share>> shares_;
  std::vector<std::pair<const void*, std::function<void()>>> waiting_;
  bool scheduled_ = false;
  // Who comes back later looks here first.
  std::shared_ptr<DmaPool*> self_ = std::make_shared<DmaPool*>(this);
};

// What a process has; it may outlive the pool.
class DmaPool::Share {
 private:
  friend class DmaPool;

  MemoryShares::Holder common_;
  std::unique_ptr<Arena> own_;  // null before it was needed
};

// It may outlive the pool, and then has no bytes.
class DmaPool::Buffer {
 public:
  Buffer(DmaPool& pool, std::shared_ptr<Share> share, Arena& arena,
         uint64_t first, size_t size)
      : pool_(pool.self_),
        share_(std::move(share)),
        arena_(arena),
        first_(first),
        size_(size) {}
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::span<std::byte> bytes() const;
  uint64_t iova() const;

 private:
  friend class DmaPool;

  const std::weak_ptr<DmaPool*> pool_;
  const std::shared_ptr<Share> share_;
  Arena& arena_;
  const uint64_t first_;  // unit
  const size_t size_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_VERBS_DMA_POOL_H_
