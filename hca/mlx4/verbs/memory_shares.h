// MemoryShares: the rule that limits each holder's part of common memory.
#ifndef IBEMU_HCA_MLX4_VERBS_MEMORY_SHARES_H_
#define IBEMU_HCA_MLX4_VERBS_MEMORY_SHARES_H_

#include <cstddef>

namespace ibemu::hca::mlx4 {

// Common memory and its division among holders.  What is taken may be kept for
// ever, and the number of future holders is unknown, so no holder may have more
// than it leaves free for others.  A single holder may have up to a half, and
// when n holders have taken all they may, 1/2^n of the memory is still free.
// When memory is returned, those who have least may take first.
class MemoryShares {
 public:
  // A participant.
  struct Holder {
    size_t held = 0;  // bytes
  };

  // `all`: bytes of common memory.
  explicit MemoryShares(size_t all) : free_(all) {}

  size_t free() const { return free_; }  // bytes

  // Takes `size` bytes for `holder`.  Returns false if it may not have so many
  // more now.
  [[nodiscard]] bool Take(Holder& holder, size_t size) {
    if (size > free_ || holder.held + size > free_ - size) return false;
    holder.held += size;
    free_ -= size;
    return true;
  }
  // Returns what was taken, or a part of it.
  void Return(Holder& holder, size_t size) {
    holder.held -= size;
    free_ += size;
  }

 private:
  size_t free_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_VERBS_MEMORY_SHARES_H_
