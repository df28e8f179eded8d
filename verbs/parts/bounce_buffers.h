// Buffers for data on its way from one process to another.
#ifndef IBEMU_VERBS_PARTS_BOUNCE_BUFFERS_H_
#define IBEMU_VERBS_PARTS_BOUNCE_BUFFERS_H_

#include <cstddef>
#include <memory>

#include "verbs/memory.h"

namespace ibemu::verbs {

// The number of bytes read from a process at once: it fits a second-level
// cache, and is long enough for process_vm_readv to be at its best.
inline constexpr size_t kChunk = size_t{256} << 10;

// A BounceBuffers lends buffers.  Those of kChunk bytes are used again, because
// allocating and clearing one takes half as long as filling it.  A buffer may
// be released on any thread, also after the BounceBuffers has ended.
class BounceBuffers {
 public:
  BounceBuffers();

  // Returns a buffer of `size` bytes with any contents: the caller must fill
  // all of it before anybody else sees it.
  verbs::Buffer Take(size_t size);

 private:
  class Shelf;
  std::shared_ptr<Shelf> shelf_;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_PARTS_BOUNCE_BUFFERS_H_
