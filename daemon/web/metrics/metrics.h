// The metrics of a fabric, for Prometheus.
#ifndef IBEMU_DAEMON_WEB_METRICS_METRICS_H_
#define IBEMU_DAEMON_WEB_METRICS_METRICS_H_

#include <prometheus/metric_family.h>

#include <cstddef>

#include "daemon/web/metrics/metric_family.h"
#include "fabric/fabric.h"

namespace ibemu::daemon {

// Returns the metrics of the whole fabric: nodes, links, packets.
MetricFamilies FabricMetrics(const fabric::Fabric& fabric);

// The number of metrics of each port with a cable: state, traffic, errors.
size_t PortMetricKinds();
// Returns metric `kind` of the ports [from, from + count) of the subnet: there
// may be 200,000 ports, so they are read in pieces.
prometheus::MetricFamily PortMetrics(size_t kind, const fabric::Subnet& subnet,
                                     size_t from, size_t count);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_METRICS_METRICS_H_
