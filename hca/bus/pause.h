// How a driver lets time pass while its adapter works.
#ifndef IBEMU_HCA_BUS_PAUSE_H_
#define IBEMU_HCA_BUS_PAUSE_H_

#include <functional>

#include "absl/time/time.h"

namespace ibemu::hca {

// Returns when `span` is over, by the clock that Timers::Now() tells; nothing
// else of the process's thread runs meanwhile.  Commands of the bring-up wait
// so, and those that must be answered at once.  daemon/ sleeps here; a test
// moves its clock.
using Pause = std::function<void(absl::Duration span)>;

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_PAUSE_H_
