// LiveView: the page of the live view, and the requests by which it gets data.
#ifndef IBEMU_DAEMON_WEB_VIEW_LIVE_VIEW_H_
#define IBEMU_DAEMON_WEB_VIEW_LIVE_VIEW_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "control/method_table.h"
#include "daemon/events/event_log.h"
#include "daemon/web/view/event_backlog.h"
#include "daemon/web/view/loop_questions.h"
#include "daemon/web/view/view_feed.h"
#include "fabric/fabric.h"

namespace httplib {
class Server;
struct Request;
struct Response;
}  // namespace httplib

namespace ibemu::daemon {

// A LiveView serves the page, and what the page asks for.  GET / and the files
// beside it hold no secret.  All below /api asks for the token, which the page
// has from the address that the daemon told:
//
//   POST /api/call    a JSON-RPC request and its response, of the methods of
//                     daemon/web/view/view_calls.h
//   GET  /api/events  server-sent events: daemon/web/view/view_feed.h
//
// The token comes in a header, which no other site's page can make a browser
// send.  A cookie would go to every server of this machine: browsers don't tell
// them apart by port.
class LiveView {
 public:
  static constexpr size_t kMaxStreams = 8;  // each takes a thread

  // All must outlive this.
  LiveView(Timers& timers, fabric::Fabric& fabric, EventLog& events,
           const control::MethodTable& dispatcher, LoopQuestions& questions);
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  // This must outlive `server`'s last answer.
  void AddTo(httplib::Server& server);

  const std::string& token() const { return token_; }

  // Ends all streams.
  void Close();

 private:
  // Returns false if the request was refused.
  bool Admit(const httplib::Request& request,
             httplib::Response& response) const;
  void Call(const httplib::Request& request, httplib::Response& response);
  void Events(const httplib::Request& request, httplib::Response& response);
  // Returns null if there are too many streams.
  std::shared_ptr<EventBacklog> OpenStream();

  const control::MethodTable& dispatcher_;
  LoopQuestions& questions_;
  const std::string token_;
  ViewFeed feed_;  // the loop's
  std::mutex mutex_;
  std::vector<std::weak_ptr<EventBacklog>> streams_;
  bool closed_ = false;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_VIEW_LIVE_VIEW_H_
