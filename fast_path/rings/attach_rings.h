// The ioctls by which a client and the daemon come to share rings.
#ifndef IBEMU_FAST_PATH_RINGS_ATTACH_RINGS_H_
#define IBEMU_FAST_PATH_RINGS_ATTACH_RINGS_H_

#include <sys/ioctl.h>

#include <cstdint>

namespace ibemu::fast_path {

// The version of all memory in this folder: both sides have to have the same.
inline constexpr uint32_t kRingsVersion = 3;

// The argument of kAttachRings: a memfd of the caller, as long as the file's
// kind of rings, all zero, all of it allocated, mapped already, and sealed
// against other lengths alone.
struct AttachRings {
  uint32_t version;
  int32_t memory;
};

// Shares the rings in that memory from now on.  The daemon opens the
// memory by that number, and the caller may close it.  Errors: ENOTTY (no
// device of ours, or none that has rings), EINVAL (another version, or not such
// a memory), ENOENT (no such descriptor), EBUSY (the file has rings), ENOSPC
// (too many have), EPERM or EACCES (the caller may not write to it, or has
// other ids than who opened it).
inline constexpr uint32_t kAttachRings = _IOW(0xeb, 3, AttachRings);

// Makes the daemon look into the rings of this file, and returns then.
inline constexpr uint32_t kLookAtRings = _IO(0xeb, 4);

}  // namespace ibemu::fast_path

#endif  // IBEMU_FAST_PATH_RINGS_ATTACH_RINGS_H_
