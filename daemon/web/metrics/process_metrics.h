// Metrics of the daemon's own process.
#ifndef IBEMU_DAEMON_WEB_METRICS_PROCESS_METRICS_H_
#define IBEMU_DAEMON_WEB_METRICS_PROCESS_METRICS_H_

#include "daemon/web/metrics/metric_family.h"

namespace ibemu::daemon {

// Returns the version, the time on processors, and what the process holds of
// memory and descriptors, by the names that Prometheus' own libraries use.
MetricFamilies ProcessMetrics();

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_METRICS_PROCESS_METRICS_H_
