// What stands behind the adapters that a daemon serves.
#ifndef IBEMU_DAEMON_BACKEND_H_
#define IBEMU_DAEMON_BACKEND_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "control/rpc.h"
#include "daemon/adapters/adapters.h"
#include "daemon/views/attachments.h"
#include "daemon/web/web_address.h"
#include "daemon/web/web_server.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::daemon {

// Outlives the views of its adapters, and they the connections that hold them.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  virtual Adapters& adapters() = 0;

  // Adds the methods that this back end has beside those of `attachments`,
  // once. Both must outlive their last call.
  virtual void AddTo(control::Dispatcher& dispatcher,
                     const Attachments& attachments) = 0;

  // Adds what it is to the greeting and to the result of `status`.
  virtual void Greet(nlohmann::json& greeting) const = 0;
  virtual void Describe(nlohmann::json& status) const = 0;

  // In a line for people: "20 nodes, seed 5".
  virtual std::string Summary() const = 0;

  // Takes the address of --http.  Errors: WebServer::Bind()'s.
  virtual absl::StatusOr<std::unique_ptr<WebServer>> BindWeb(
      const WebAddress& address, control::Dispatcher& dispatcher) = 0;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_BACKEND_H_
