// What Prometheus is told.
#ifndef IBEMU_DAEMON_WEB_METRICS_METRICS_H_
#define IBEMU_DAEMON_WEB_METRICS_METRICS_H_

#include <prometheus/metric_family.h>

#include <cstddef>

#include "daemon/web/metrics/metric_family.h"
#include "fabric/fabric.h"

namespace ibemu::daemon {

// Of the whole fabric: nodes, links, packets.
MetricFamilies FabricMetrics(const fabric::Fabric& fabric);

// Of each port with a cable: state, traffic, errors.  There may be 200,000
// ports, so one takes a kind after the other, and of each the ports
// [from, from + count) of the subnet.
size_t PortMetricKinds();
prometheus::MetricFamily PortMetrics(size_t kind, const fabric::Subnet& subnet,
                                     size_t from, size_t count);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_METRICS_METRICS_H_
