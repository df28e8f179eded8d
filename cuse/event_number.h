// What a supervisor of descriptors tells us: see UverbsOffers.
#ifndef IBEMU_CUSE_EVENT_NUMBER_H_
#define IBEMU_CUSE_EVENT_NUMBER_H_

#include <sys/ioctl.h>

#include <cstdint>

namespace ibemu::cuse {

// The next command of thread `tid` (0: of who asks) may use the event file,
// which has `number` in that client.
struct EventNumber {
  int32_t tid;
  int32_t number;
};

// ioctl() of an event file.
inline constexpr uint32_t kNumberEventFile = _IOW(0xeb, 1, EventNumber);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_EVENT_NUMBER_H_
