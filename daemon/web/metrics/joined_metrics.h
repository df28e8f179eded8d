// The metrics of hosts whose adapters are elsewhere.
#ifndef IBEMU_DAEMON_WEB_METRICS_JOINED_METRICS_H_
#define IBEMU_DAEMON_WEB_METRICS_JOINED_METRICS_H_

#include <vector>

#include "daemon/remote_node/node_link_methods.h"
#include "daemon/web/metrics/metric_family.h"

namespace ibemu::daemon {

// Returns what `ibemu status` tells of each joined host, by its node and by who
// has it.  There is no family without a sample.
MetricFamilies JoinedMetrics(const std::vector<JoinedNode>& nodes);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_METRICS_JOINED_METRICS_H_
