// AdapterPages: the page and the metrics of adapters by MMIO.
#ifndef IBEMU_DAEMON_WEB_ADAPTER_PAGES_H_
#define IBEMU_DAEMON_WEB_ADAPTER_PAGES_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/adapters/hca_adapters.h"
#include "daemon/web/view/loop_questions.h"
#include "daemon/web/web_address.h"
#include "daemon/web/web_pages.h"
#include "daemon/web/web_server.h"
#include "loop/loop.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::daemon {

// A page of HcaAdapters::List(), as HTML.
std::string AdapterPage(const nlohmann::json& adapters);

// GET /: what `ibemu status` tells of the adapters, anew every few seconds.  It
// changes nothing and tells no secret, so it takes no token.
class AdapterPages : public WebPages {
 public:
  // Both must outlive this.
  AdapterPages(const HcaAdapters& adapters, LoopQuestions& questions)
      : adapters_(adapters), questions_(questions) {}

  void AddTo(httplib::Server& server) override;
  std::string ViewPath() const override { return "/"; }
  void Close() override {}
  size_t streams() const override { return 0; }

  MetricFamilies Metrics() const override;
  size_t PortMetricKinds() const override;
  prometheus::MetricFamily PortMetrics(PortCursor& cursor) const override;

 private:
  const HcaAdapters& adapters_;
  LoopQuestions& questions_;
};

// A web server that shows it: WebServer::Bind().  Both must outlive that.
absl::StatusOr<std::unique_ptr<WebServer>> BindAdapterPages(
    const WebAddress& address, Loop& loop, const HcaAdapters& adapters);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_ADAPTER_PAGES_H_
