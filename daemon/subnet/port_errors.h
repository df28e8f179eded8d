// The counters of a port that count what went wrong.
#ifndef IBEMU_DAEMON_SUBNET_PORT_ERRORS_H_
#define IBEMU_DAEMON_SUBNET_PORT_ERRORS_H_

#include <cstdint>

#include "fabric/agents/pma_counters.h"
#include "fabric/subnet/subnet.h"

namespace ibemu::daemon {

// Returns true for those of PortCounters that ibqueryerrors looks at.
bool CountsErrors(fabric::Counter counter);

// Returns the sum of these counters, as a PerfMgt query would show them.
uint64_t SumOfErrors(const fabric::NodePort& port);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SUBNET_PORT_ERRORS_H_
