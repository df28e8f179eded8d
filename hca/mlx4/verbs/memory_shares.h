// How much each may have of what is for all.
#ifndef IBEMU_HCA_MLX4_VERBS_MEMORY_SHARES_H_
#define IBEMU_HCA_MLX4_VERBS_MEMORY_SHARES_H_

#include <cstddef>

namespace ibemu::hca::mlx4 {

// What is taken may be kept for ever, and nobody knows who comes next; so
// nobody has more than he leaves for others.  One alone has up to a half, and
// who comes when n have taken what they could still finds a part in 2^n.  Of
// what comes back, those who have least may take first.
class MemoryShares {
 public:
  // One who takes part.
  struct Holder {
    size_t held = 0;  // bytes
  };

  // `all`: bytes.
  explicit MemoryShares(size_t all) : free_(all) {}

  size_t free() const { return free_; }  // bytes

  // False: he may not have so much more now.
  [[nodiscard]] bool Take(Holder& holder, size_t size) {
    if (size > free_ || holder.held + size > free_ - size) return false;
    holder.held += size;
    free_ -= size;
    return true;
  }
  // What was taken, or a part of it.
  void Return(Holder& holder, size_t size) {
    holder.held -= size;
    free_ += size;
  }

 private:
  size_t free_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_VERBS_MEMORY_SHARES_H_
