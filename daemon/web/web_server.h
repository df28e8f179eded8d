// ibemud's web server: what Prometheus and health checks ask for, and the live
// view.
#ifndef IBEMU_DAEMON_WEB_WEB_SERVER_H_
#define IBEMU_DAEMON_WEB_WEB_SERVER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "daemon/web/metrics/metric_family.h"
#include "daemon/web/view/loop_questions.h"
#include "daemon/web/web_address.h"
#include "daemon/web/web_pages.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// GET /health, /metrics, /metrics/ports, and the pages of a back end, for this
// machine alone.  Its threads ask the loop for what lives there, a slice at a
// time, so that no answer keeps the loop for long.
class WebServer {
 public:
  using MakePages =
      absl::FunctionRef<std::unique_ptr<WebPages>(LoopQuestions&)>;

  // Takes the address; nobody is answered yet.  `loop` must outlive this;
  // `make` is called once, and what it makes goes with this.
  //
  // Errors: those of bind(2), naming the address.
  static absl::StatusOr<std::unique_ptr<WebServer>> Bind(
      const WebAddress& address, Loop& loop, MakePages make);

  // Those who wait for the loop get an error.
  ~WebServer();

  // The URL of the pages, token included: "http://127.0.0.1:8080/?token=..."
  std::string ViewUrl() const;

  // The address, with the port that the kernel chose if there was none.
  const WebAddress& address() const;

  // Adds to the metrics what `more` returns, which is called on the loop
  // thread. REQUIRES: not started.
  void AddMetrics(std::function<MetricFamilies()> more);

  // Starts the threads: when the process has given up what it does not need.
  void Start();

 private:
  class Impl;

  explicit WebServer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_WEB_SERVER_H_
