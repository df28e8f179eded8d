// The HTTP library's server, without its sockets.
#ifndef IBEMU_DAEMON_WEB_HTTP_REQUEST_SERVER_H_
#define IBEMU_DAEMON_WEB_HTTP_REQUEST_SERVER_H_

#include <httplib.h>

#include <mutex>
#include <set>

#include "daemon/web/http/http_listener.h"

namespace ibemu::daemon {

// A RequestServer answers requests that are complete: the library itself
// buffers first and measures then.
class RequestServer : public httplib::Server {
 public:
  // Lets answers that go on and on do so, until Close().  The library takes a
  // listening socket for the sign that it runs; it does nothing else with it.
  void Open(int listening) { svr_sock_ = listening; }

  // Ends the connections of all answers under way, whatever their readers do.
  // Later requests get no answer.
  void Close();

  // Answers a request and ends its connection.  May be called from several
  // threads at once.
  void Answer(HttpRequest request);

 private:
  std::mutex mutex_;  // guards what follows; held for moments only
  bool closed_ = false;
  std::set<int> answered_;  // the sockets of answers under way
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_HTTP_REQUEST_SERVER_H_
