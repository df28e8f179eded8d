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

// Without samples.
prometheus::MetricFamily MakeFamily(std::string name, std::string help,
                                    prometheus::MetricType type);

// `family` is of counters or gauges.  What is not UTF-8 in a label's value is
// replaced by U+FFFD.
void AddSample(prometheus::MetricFamily& family, double value,
               MetricLabels labels = {});

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_METRICS_METRIC_FAMILY_H_
