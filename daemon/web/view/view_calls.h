// What a page may ask of the daemon.
#ifndef IBEMU_DAEMON_WEB_VIEW_VIEW_CALLS_H_
#define IBEMU_DAEMON_WEB_VIEW_VIEW_CALLS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "control/rpc.h"

namespace ibemu::daemon {

// Whether the JSON-RPC request in `body` names a method that is for pages: what
// looks at the fabric, and changes links, nodes and faults.  What is no request
// at all passes: AnswerViewCall() says what is wrong with it.
//
// Errors: PermissionDenied, naming the method.
absl::Status CheckViewCall(std::string_view body);

// Carries out such a request, on the loop thread.  Returns the response; empty
// for a notification.
std::string AnswerViewCall(const control::Dispatcher& dispatcher,
                           std::string_view body);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_VIEW_VIEW_CALLS_H_
