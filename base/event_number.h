// EventNumber: a descriptor supervisor's message about an event file; see
// UverbsOffers.
#ifndef IBEMU_BASE_EVENT_NUMBER_H_
#define IBEMU_BASE_EVENT_NUMBER_H_

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

// The ioctl()s of an event file.  The first one asks if the process of `tid`
// needs another event file, and fails with EBUSY if it has enough.
inline constexpr uint32_t kOfferEventFile = _IOW(0xeb, 0, int32_t);
inline constexpr uint32_t kNumberEventFile = _IOW(0xeb, 1, EventNumber);

}  // namespace ibemu

#endif  // IBEMU_BASE_EVENT_NUMBER_H_
