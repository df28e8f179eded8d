// The interface of a daemon's back end.
#ifndef IBEMU_DAEMON_BACKEND_H_
#define IBEMU_DAEMON_BACKEND_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "control/method_table.h"
#include "cuse/uverbs/uverbs_files.h"
#include "daemon/adapters/adapters.h"
#include "daemon/adapters/host_table.h"
#include "daemon/addresses/address_plan.h"
#include "daemon/events/event_log.h"
#include "daemon/web/web_address.h"
#include "daemon/web/web_server.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::daemon {

// A Backend has the adapters that a daemon serves, and the methods that go with
// them.  It must outlive the views of its adapters, which in turn outlive the
// connections that hold them.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  virtual Adapters& adapters() = 0;

  // The addresses of the adapters' ports, and the seed of what is random about
  // connections.
  virtual const AddressPlan& addresses() const = 0;
  virtual uint64_t seed() const = 0;

  virtual EventLog& events() = 0;

  // Adds this back end's own methods; `hosts` has those of its adapters,
  // and `uverbs_files` those that programs have open.  Call it once.  All
  // parameters must outlive the last call of a method, and the files in
  // `uverbs_files` end before this does.
  virtual void AddTo(control::MethodTable& dispatcher, HostTable& hosts,
                     cuse::UverbsFiles& uverbs_files) = 0;

  // Greet() adds what the back end is to the daemon's greeting, Describe() to
  // the result of the method `status`.
  virtual void Greet(nlohmann::json& greeting) const = 0;
  virtual void Describe(nlohmann::json& status) const = 0;

  // Returns a line for people: "20 nodes, seed 5".
  virtual std::string Summary() const = 0;

  // Makes the web server of --http, which takes its address but does not answer
  // yet.
  //
  // Errors: those of WebServer::Bind().
  virtual absl::StatusOr<std::unique_ptr<WebServer>> BindWeb(
      const WebAddress& address, control::MethodTable& dispatcher) = 0;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_BACKEND_H_
