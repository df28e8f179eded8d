// TakeRings(): the ioctl kAttachRings, as far as all files have it.
#ifndef IBEMU_CUSE_RINGS_TAKE_RINGS_H_
#define IBEMU_CUSE_RINGS_TAKE_RINGS_H_

#include <cstddef>
#include <optional>

#include "cuse/errno.h"
#include "cuse/file.h"
#include "cuse/rings/ring_set.h"
#include "cuse/rings/shared_memory.h"

namespace ibemu::cuse {

// Takes the memory that the caller offers, if it has `size` bytes and `set`,
// which may be null, has room for it.  `state`: why this file can have no rings
// now, or kOk.  Returns kOk and sets `memory`, or the ioctl's errno.
Errno TakeRings(const IoctlRequest& ioctl, const RingSet* set, Errno state,
                size_t size, std::optional<SharedMemory>& memory);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_RINGS_TAKE_RINGS_H_
