// EventNumber, and the ioctl()s by which a descriptor supervisor tells the
// daemon what the kernel does not.
#ifndef IBEMU_BASE_SUPERVISOR_IOCTLS_H_
#define IBEMU_BASE_SUPERVISOR_IOCTLS_H_

#include <sys/ioctl.h>

#include <cstdint>

namespace ibemu {

// The descriptor `number` that the process of thread `tid` has for the event
// file.  Commands of that process may use it.  A `tid` of 0 is the calling
// thread itself.
struct EventNumber {
  int32_t tid;
  int32_t number;
};

// Those of an event file (see UverbsOffers).  The first one asks if the process
// of `tid` needs another event file, and fails with EBUSY if it has enough.
inline constexpr uint32_t kOfferEventFile = _IOW(0xeb, 0, int32_t);
inline constexpr uint32_t kNumberEventFile = _IOW(0xeb, 1, EventNumber);

// The one of a uverbsN: for which thread the supervisor has opened it, whose
// credentials then count as the opener's.  That thread must be blocked in its
// own open() meanwhile.  Fails with EPERM for who may not speak for others or
// if the thread has other file system ids than the one that opened, with EBUSY
// the second time and after the first write(), and with ESRCH if there is no
// such thread.
inline constexpr uint32_t kOpenedFor = _IOW(0xeb, 2, int32_t);

}  // namespace ibemu

#endif  // IBEMU_BASE_SUPERVISOR_IOCTLS_H_
