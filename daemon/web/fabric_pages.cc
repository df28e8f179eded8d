#include "daemon/web/fabric_pages.h"

#include "absl/strings/str_cat.h"
#include "daemon/web/metrics/metrics.h"
#include "fabric/subnet/subnet.h"

namespace ibemu::daemon {

std::string FabricPages::ViewPath() const {
  return absl::StrCat("/?token=", view_.token());
}

MetricFamilies FabricPages::Metrics() const { return FabricMetrics(fabric_); }

size_t FabricPages::PortMetricKinds() const {
  return ibemu::daemon::PortMetricKinds();
}

prometheus::MetricFamily FabricPages::PortMetrics(PortCursor& cursor) const {
  constexpr size_t kSlice = 1000;
  const fabric::Subnet& subnet = fabric_.subnet();
  prometheus::MetricFamily piece =
      ibemu::daemon::PortMetrics(cursor.kind, subnet, cursor.from, kSlice);
  cursor.from += kSlice;
  if (cursor.from >= subnet.ports().size()) {
    cursor = {.kind = cursor.kind + 1, .from = 0};
  }
  return piece;
}

absl::StatusOr<std::unique_ptr<WebServer>> BindFabricPages(
    const WebAddress& address, Loop& loop, fabric::Fabric& fabric,
    EventLog& events, const control::MethodTable& dispatcher) {
  return WebServer::Bind(address, loop, [&](LoopQuestions& questions) {
    return std::make_unique<FabricPages>(loop, fabric, events, dispatcher,
                                         questions);
  });
}

}  // namespace ibemu::daemon
