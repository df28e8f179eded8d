// What a supervisor of descriptors tells us: see UverbsOffers.
#ifndef IBEMU_BASE_EVENT_NUMBER_H_
#define IBEMU_BASE_EVENT_NUMBER_H_

#include <sys/ioctl.h>

#include <cstdint>

namespace ibemu {

// The process of thread `tid` (0: the thread that asks, for itself) has the
// event file as `number`, and commands of it may use that.
struct EventNumber {
  int32_t tid;
  int32_t number;
};

// ioctl()s of an event file.  The first one asks whether the process of `tid`
// can do with another one: EBUSY if it has enough.
inline constexpr uint32_t kOfferEventFile = _IOW(0xeb, 0, int32_t);
inline constexpr uint32_t kNumberEventFile = _IOW(0xeb, 1, EventNumber);

}  // namespace ibemu

#endif  // IBEMU_BASE_EVENT_NUMBER_H_
