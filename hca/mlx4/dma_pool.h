// Memory of the driver that messages pass through.
#ifndef IBEMU_HCA_MLX4_DMA_POOL_H_
#define IBEMU_HCA_MLX4_DMA_POOL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "base/timers.h"
#include "hca/bus/pci_function.h"
#include "hca/bus/range_pool.h"

namespace ibemu::hca::mlx4 {

// Parts of larger pieces: to map each message by itself would cost a system
// call, and a page.
class DmaPool {
 public:
  // What is asked of the function at once, in bytes: a huge page, which is
  // where the way by sysfs ends.
  static constexpr size_t kArena = size_t{2} << 20;

  class Buffer;

  // `most`: bytes in all, a multiple of kArena.  Both references must outlive
  // it.
  DmaPool(PciFunction& function, Timers& timers, size_t most)
      : function_(function), timers_(timers), most_(most) {}
  ~DmaPool();
  DmaPool(const DmaPool&) = delete;
  DmaPool& operator=(const DmaPool&) = delete;

  // `size`: 1 to kArena bytes, in one piece; of any value.  It must go before
  // this does.
  //
  // Errors: ResourceExhausted, all is in use; InvalidArgument, too long; those
  // of PciFunction::Allocate().
  absl::StatusOr<std::unique_ptr<Buffer>> Take(size_t size);

  // Calls `again` once, when something has come back: not from within the call
  // that brings it.
  void CallWhenReturned(std::function<void()> again);

  size_t in_use() const { return in_use_; }  // bytes, rounded up

 private:
  struct Arena {
    std::unique_ptr<DmaMemory> memory;
    RangePool free;  // units
  };

  void Return(Arena& arena, uint64_t first, uint64_t units);

  PciFunction& function_;
  Timers& timers_;
  const size_t most_;
  size_t in_use_ = 0;
  std::vector<std::unique_ptr<Arena>> arenas_;
  std::vector<std::function<void()>> waiting_;
  bool scheduled_ = false;
  // Who comes back from a timer looks here first.
  std::shared_ptr<DmaPool*> self_ = std::make_shared<DmaPool*>(this);
};

class DmaPool::Buffer {
 public:
  Buffer(DmaPool& pool, Arena& arena, uint64_t first, size_t size)
      : pool_(pool), arena_(arena), first_(first), size_(size) {}
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::span<std::byte> bytes() const;
  uint64_t iova() const;

 private:
  DmaPool& pool_;
  Arena& arena_;
  const uint64_t first_;  // unit
  const size_t size_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_DMA_POOL_H_
