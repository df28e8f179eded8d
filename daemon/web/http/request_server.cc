#include "daemon/web/http/request_server.h"

#include <sys/socket.h>

#include <utility>

#include "daemon/web/http/memory_stream.h"

namespace ibemu::daemon {

void RequestServer::Answer(HttpRequest request) {
  MemoryStream stream(std::move(request.text), request.socket.get());
  bool closed = false;
  process_request(stream, /*close_connection=*/true, closed,
                  [](httplib::Request& read) {
                    // Everybody comes from this machine, so compression would
                    // only take time.
                    read.headers.erase("Accept-Encoding");
                  });
  shutdown(request.socket.get(), SHUT_WR);
}

}  // namespace ibemu::daemon
