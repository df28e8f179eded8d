// WebPages: the interface of a back end to the web server: its pages and
// metrics.
#ifndef IBEMU_DAEMON_WEB_WEB_PAGES_H_
#define IBEMU_DAEMON_WEB_WEB_PAGES_H_

#include <prometheus/metric_family.h>

#include <cstddef>
#include <string>

#include "daemon/web/metrics/metric_family.h"

namespace httplib {
class Server;
}  // namespace httplib

namespace ibemu::daemon {

// A WebPages is what each back end implements for the web server.  Its metrics
// are read on the loop thread.
class WebPages {
 public:
  WebPages() = default;
  WebPages(const WebPages&) = delete;
  WebPages& operator=(const WebPages&) = delete;
  virtual ~WebPages() = default;

  // Adds the pages.  This must outlive `server`'s last answer.
  virtual void AddTo(httplib::Server& server) = 0;

  // The path that people open: "/", with a token if the pages ask for one.
  virtual std::string ViewPath() const = 0;

  // The number of answers that may be endless; each of them has a thread.
  virtual size_t streams() const = 0;
  // Ends the endless answers.
  virtual void Close() = 0;

  virtual MetricFamilies Metrics() const = 0;

  // The place of a piece of the ports' metrics, which may be many: the metric,
  // and the first port.
  struct PortCursor {
    size_t kind = 0, from = 0;
  };
  // The number of metrics of each port; after the last piece, `kind` has it.
  virtual size_t PortMetricKinds() const = 0;
  // Returns the piece at `cursor`, and moves `cursor` to the next one.
  virtual prometheus::MetricFamily PortMetrics(PortCursor& cursor) const = 0;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_WEB_PAGES_H_
