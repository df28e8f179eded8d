// DmaPool: memory of the driver that messages pass through.
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
#include "base/deferred_call.h"
#include "base/timers.h"
#include "hca/bus/pci_function.h"
#include "hca/mlx4/core/free_runs.h"
#include "hca/mlx4/verbs/memory_shares.h"

namespace ibemu::hca::mlx4 {

// An allocator of buffers in larger pieces of DMA memory: mapping each message
// by itself would cost a system call, and a page.
//
// A process may keep a buffer for ever: a send to a peer that takes nothing, or
// a receive for which nothing comes.  So each process has a piece of its own,
// which is enough for any message, besides its share of the common memory
// (MemoryShares); and there are no more processes than pieces for them.
class DmaPool {
 public:
  // The size of a piece in bytes.
  static constexpr size_t kArena = kDmaPiece;
  // The largest number of processes at a time.
  static constexpr size_t kMaxShares = 64;

  class Share;
  class Buffer;

  // `common`: bytes of common memory, a multiple of kArena.  Up to kMaxShares
  // more pieces may be allocated from the function.  Both references must
  // outlive the pool.
  DmaPool(PciFunction& function, Timers& timers, size_t common)
      : function_(function),
        common_size_(common),
        common_(common),
        call_waiting_(timers, [this] { CallWaiting(); }) {}
  ~DmaPool();
  DmaPool(const DmaPool&) = delete;
  DmaPool& operator=(const DmaPool&) = delete;

  // Returns the share of `process`, which lives as long as anybody holds it or
  // a buffer taken from it.
  //
  // Errors: ResourceExhausted if too many processes have one.
  absl::StatusOr<std::shared_ptr<Share>> ShareOf(uint64_t process);

  // Takes a contiguous buffer of `size` bytes, 1 to kArena, with arbitrary
  // contents.  A share from which nothing is taken always has enough, unless
  // the machine has no memory.
  //
  // Errors: ResourceExhausted if `share` has no more; InvalidArgument if `size`
  // is 0 or too large; those of PciFunction::Allocate().
  absl::StatusOr<std::unique_ptr<Buffer>> Take(
      const std::shared_ptr<Share>& share, size_t size);

  // Calls `again` once, when a buffer has been returned, but not from within
  // the call that returns it.  Only the last callback of each `who` is kept,
  // until StopWaiting().
  void CallWhenReturned(const void* who, std::function<void()> again);
  void StopWaiting(const void* who);

  size_t in_use() const { return in_use_; }  // bytes, rounded up

 private:
  // A piece of memory, and its free parts.
  struct Arena {
    std::unique_ptr<DmaMemory> memory;
    FreeRuns free;  // in units
  };

  absl::StatusOr<std::unique_ptr<Arena>> MakeArena();
  std::unique_ptr<Buffer> TakeCommon(const std::shared_ptr<Share>& share,
                                     size_t size);
  std::unique_ptr<Buffer> TakeFrom(Arena& arena,
                                   const std::shared_ptr<Share>& share,
                                   size_t size);
  void Return(const Buffer& buffer);
  void CallWaiting();

  PciFunction& function_;
  const size_t common_size_;
  MemoryShares common_;
  size_t in_use_ = 0;
  std::vector<std::unique_ptr<Arena>> arenas_;  // common memory
  absl::flat_hash_map<uint64_t, std::weak_ptr<Share>> shares_;
  std::vector<std::pair<const void*, std::function<void()>>> waiting_;
  DeferredCall call_waiting_;
  // Expires with the pool: buffers hold weak references to it.
  std::shared_ptr<DmaPool*> self_ = std::make_shared<DmaPool*>(this);
};

// The memory of one process.  It may outlive the pool.
class DmaPool::Share {
 private:
  friend class DmaPool;

  MemoryShares::Holder common_;
  std::unique_ptr<Arena> own_;  // null until it is needed
};

// A part of a piece, returned to the pool on destruction.  It may outlive the
// pool, but then has no bytes.
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
