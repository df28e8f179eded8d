#include "daemon/web/http/request_server.h"

#include <sys/socket.h>

#include <utility>

#include "daemon/web/http/memory_stream.h"

namespace ibemu::daemon {

void RequestServer::Close() {
  svr_sock_ = INVALID_SOCKET;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const int socket : answered_) shutdown(socket, SHUT_RDWR);
}

void RequestServer::Answer(HttpRequest request) {
  const int socket = request.socket.get();
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    answered_.insert(socket);
  }
  MemoryStream stream(std::move(request.text), socket);
  bool closed = false;
  const auto prepare = [](httplib::Request& read) {
    // Everybody comes from this machine, so compression would only take time.
    read.headers.erase("Accept-Encoding");
  };
  // Newer headers of the library (0.18) want to know both ends, too.
  const auto process = [&](auto& server) {
    if constexpr (requires {
                    server.process_request(stream, true, closed, prepare);
                  }) {
      server.process_request(stream, /*close_connection=*/true, closed,
                             prepare);
    } else {
      server.process_request(stream, "", 0, "", 0, /*close_connection=*/true,
                             closed, prepare);
    }
  };
  process(*this);
  shutdown(socket, SHUT_WR);
  const std::lock_guard lock(mutex_);
  answered_.erase(socket);
}

}  // namespace ibemu::daemon
