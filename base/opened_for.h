// kOpenedFor: a descriptor supervisor's message about a device file.
#ifndef IBEMU_BASE_OPENED_FOR_H_
#define IBEMU_BASE_OPENED_FOR_H_

#include <sys/ioctl.h>

#include <cstdint>

namespace ibemu {

// The ioctl() that tells for which thread the supervisor has opened a uverbsN,
// whose credentials then count as the opener's.  That thread must be blocked in
// its own open() meanwhile.  Fails with EPERM for who may not speak for others
// or if the thread has other file system ids than the one that opened, with
// EBUSY the second time and after the first write(), and with ESRCH if there is
// no such thread.
inline constexpr uint32_t kOpenedFor = _IOW(0xeb, 2, int32_t);

}  // namespace ibemu

#endif  // IBEMU_BASE_OPENED_FOR_H_
