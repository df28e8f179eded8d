// What Prometheus is told of adapters by MMIO.
#ifndef IBEMU_DAEMON_WEB_METRICS_ADAPTER_METRICS_H_
#define IBEMU_DAEMON_WEB_METRICS_ADAPTER_METRICS_H_

#include <cstddef>

#include "daemon/adapters/hca_adapters.h"
#include "daemon/web/metrics/metric_family.h"

namespace ibemu::daemon {

// Of each adapter, by the name that it has on the command line: what it is,
// whether it lives, commands, events, and what programs have of it.
MetricFamilies AdapterMetrics(const HcaAdapters& adapters);

// Of each of their ports, by the labels of a fabric's: its state, and what went
// through queue pairs 0 and 1.  One takes a kind after the other.
inline constexpr size_t kAdapterPortMetrics = 4;
prometheus::MetricFamily AdapterPortMetrics(const HcaAdapters& adapters,
                                            size_t kind);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_METRICS_ADAPTER_METRICS_H_
