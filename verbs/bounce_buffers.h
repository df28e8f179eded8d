// Room for what is on its way from one process to another.
#ifndef IBEMU_VERBS_BOUNCE_BUFFERS_H_
#define IBEMU_VERBS_BOUNCE_BUFFERS_H_

#include <cstddef>
#include <memory>

#include "verbs/memory.h"

namespace ibemu::verbs {

// What is fetched from a process at once: it fits a second-level cache, and is
// long enough for process_vm_readv to be at its best.
inline constexpr size_t kChunk = size_t{256} << 10;

// Whole chunks are used again, because to get and to clear one takes half as
// long as to fill it.  A buffer may come back from any thread, and when this
// has ended.
class BounceBuffers {
 public:
  BounceBuffers();

  // Bytes of whatever value: who takes them fills them all before anybody else
  // sees them.
  verbs::Buffer Take(size_t size);

 private:
  class Shelf;
  std::shared_ptr<Shelf> shelf_;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_BOUNCE_BUFFERS_H_
