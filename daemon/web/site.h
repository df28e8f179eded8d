// What a back end shows on the web server.
#ifndef IBEMU_DAEMON_WEB_SITE_H_
#define IBEMU_DAEMON_WEB_SITE_H_

#include <prometheus/metric_family.h>

#include <cstddef>
#include <string>

#include "daemon/web/metrics/metric_family.h"

namespace httplib {
class Server;
}  // namespace httplib

namespace ibemu::daemon {

// Its metrics are asked for on the loop.
class Site {
 public:
  Site() = default;
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;
  virtual ~Site() = default;

  // Adds its pages.  This must outlive `server`'s last answer.
  virtual void AddTo(httplib::Server& server) = 0;

  // What people open: "/", with what else it takes to see it.
  virtual std::string ViewPath() const = 0;

  // How many answers of its own may go on and on, each with a thread.
  virtual size_t streams() const = 0;
  // They end.
  virtual void Close() = 0;

  virtual MetricFamilies Metrics() const = 0;

  // Those of ports, which may be many, come in pieces: one kind after the
  // other, and of each the ports from `from`.
  struct PortCursor {
    size_t kind = 0, from = 0;
  };
  // After the last piece, `kind` is this.
  virtual size_t PortMetricKinds() const = 0;
  // The piece at `cursor`, which is where the next one begins then.
  virtual prometheus::MetricFamily PortMetrics(PortCursor& cursor) const = 0;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_SITE_H_
