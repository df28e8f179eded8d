// Connections of HTTP clients, until their requests are complete.
#ifndef IBEMU_DAEMON_WEB_HTTP_HTTP_LISTENER_H_
#define IBEMU_DAEMON_WEB_HTTP_HTTP_LISTENER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"

namespace ibemu::daemon {

// A request that is complete, and the connection that it came by, which has
// this one request and then ends.
struct HttpRequest {
  UniqueFd socket;
  std::string text;
  std::string target;  // "/health"
};

// An HttpListener reads requests on a thread of its own, from all clients at
// once, so that slow ones keep nobody else waiting: RequestReader bounds how
// long a request may be, this how long it may take and how many may be under
// way.  A connection beyond kMaxConnections displaces the oldest one.
class HttpListener {
 public:
  static constexpr size_t kMaxConnections = 64;
  static constexpr absl::Duration kPatience = absl::Seconds(5);

  // Listens at a numeric address; nobody is accepted yet.  `port` 0: the kernel
  // chooses.  A request must be complete within `patience`.
  //
  // Errors: those of bind(2).
  static absl::StatusOr<std::unique_ptr<HttpListener>> Bind(
      const std::string& host, uint16_t port,
      absl::Duration patience = kPatience);

  HttpListener(const HttpListener&) = delete;
  HttpListener& operator=(const HttpListener&) = delete;
  // Ends the connections whose requests are not complete.
  ~HttpListener();

  uint16_t port() const { return port_; }
  int fd() const { return listening_.get(); }

  // Starts the thread, which calls `serve` with each complete request; `serve`
  // must not block.
  void Start(std::function<void(HttpRequest)> serve);

 private:
  class Connections;

  HttpListener(UniqueFd listening, UniqueFd ending, uint16_t port,
               absl::Duration patience);

  UniqueFd listening_;
  UniqueFd ending_;  // an eventfd that is readable when the thread is to end
  const uint16_t port_;
  const absl::Duration patience_;
  std::thread thread_;
};

// Sends a short answer without the library, as far as there is room for it.
void SendRefusal(int socket, int status, std::string_view text);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_HTTP_HTTP_LISTENER_H_
