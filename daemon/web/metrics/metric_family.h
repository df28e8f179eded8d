// Families of metrics, as Prometheus has them.
#ifndef IBEMU_DAEMON_WEB_METRICS_METRIC_FAMILY_H_
#define IBEMU_DAEMON_WEB_METRICS_METRIC_FAMILY_H_

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>

#include <string>
#include <vector>

namespace ibemu::daemon {

using MetricFamilies = std::vector<prometheus::MetricFamily>;
using MetricLabels = std::vector<prometheus::ClientMetric::Label>;

// Returns a family without samples.
prometheus::MetricFamily MakeFamily(std::string name, std::string help,
                                    prometheus::MetricType type);

// Adds a sample to a family of counters or gauges.  Bytes of a label's value
// that are not UTF-8 are replaced by U+FFFD.
void AddSample(prometheus::MetricFamily& family, double value,
               MetricLabels labels = {});

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_METRICS_METRIC_FAMILY_H_
