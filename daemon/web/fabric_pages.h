// FabricPages: the live view and the metrics of a simulated subnet.
#ifndef IBEMU_DAEMON_WEB_FABRIC_PAGES_H_
#define IBEMU_DAEMON_WEB_FABRIC_PAGES_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "control/method_table.h"
#include "daemon/events/event_log.h"
#include "daemon/web/view/live_view.h"
#include "daemon/web/view/loop_questions.h"
#include "daemon/web/web_address.h"
#include "daemon/web/web_pages.h"
#include "daemon/web/web_server.h"
#include "fabric/fabric.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// A FabricPages is what the web server shows of a fabric: a LiveView, and
// metrics of all its nodes and ports.
class FabricPages : public WebPages {
 public:
  // All must outlive this.
  FabricPages(Timers& timers, fabric::Fabric& fabric, EventLog& events,
              const control::MethodTable& dispatcher, LoopQuestions& questions)
      : fabric_(fabric), view_(timers, fabric, events, dispatcher, questions) {}

  void AddTo(httplib::Server& server) override { view_.AddTo(server); }
  // The path includes the token, without which nothing can be changed.
  std::string ViewPath() const override;
  size_t streams() const override { return LiveView::kMaxStreams; }
  void Close() override { view_.Close(); }

  MetricFamilies Metrics() const override;
  size_t PortMetricKinds() const override;
  prometheus::MetricFamily PortMetrics(PortCursor& cursor) const override;

 private:
  const fabric::Fabric& fabric_;
  LiveView view_;
};

// A web server that shows it: WebServer::Bind().  All must outlive that.
absl::StatusOr<std::unique_ptr<WebServer>> BindFabricPages(
    const WebAddress& address, Loop& loop, fabric::Fabric& fabric,
    EventLog& events, const control::MethodTable& dispatcher);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_FABRIC_PAGES_H_
