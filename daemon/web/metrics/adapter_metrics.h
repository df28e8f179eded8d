// The metrics of real adapters, for Prometheus.
#ifndef IBEMU_DAEMON_WEB_METRICS_ADAPTER_METRICS_H_
#define IBEMU_DAEMON_WEB_METRICS_ADAPTER_METRICS_H_

#include <cstddef>

#include "daemon/adapters/hca_adapters.h"
#include "daemon/web/metrics/metric_family.h"

namespace ibemu::daemon {

// Returns the metrics of each adapter, labelled with its name on the command
// line: model, health, commands, events, and the objects of programs.
MetricFamilies AdapterMetrics(const HcaAdapters& adapters);

// Returns one metric of all their ports, labelled as those of a fabric: the
// state, or counts of queue pairs 0 and 1.  `kind` is less than
// kAdapterPortMetrics.
inline constexpr size_t kAdapterPortMetrics = 4;
prometheus::MetricFamily AdapterPortMetrics(const HcaAdapters& adapters,
                                            size_t kind);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_METRICS_ADAPTER_METRICS_H_
