// Pause: a function that lets time pass while a driver's adapter works.
#ifndef IBEMU_HCA_BUS_PAUSE_H_
#define IBEMU_HCA_BUS_PAUSE_H_

#include <functional>

#include "absl/time/time.h"

namespace ibemu::hca {

// A function that returns when `span` is over by the clock of Timers::Now();
// nothing else runs on the thread meanwhile.  The commands of the bring-up wait
// this way, and so do commands that must be answered at once.  daemon/ sleeps
// here; a test advances its clock.
using Pause = std::function<void(absl::Duration span)>;

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_PAUSE_H_
