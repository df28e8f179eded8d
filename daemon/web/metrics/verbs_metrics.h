// The metrics of what programs have made by verbs.
#ifndef IBEMU_DAEMON_WEB_METRICS_VERBS_METRICS_H_
#define IBEMU_DAEMON_WEB_METRICS_VERBS_METRICS_H_

#include "cuse/uverbs/uverbs_files.h"
#include "daemon/web/metrics/metric_family.h"

namespace ibemu::daemon {

// Returns how often programs have the device of each host open, and what they
// have made there: the sums of `ibemu cq ls` and its like.  Hosts without have
// no sample, and there is no family without one.
MetricFamilies VerbsMetrics(const cuse::UverbsFiles& files);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_METRICS_VERBS_METRICS_H_
