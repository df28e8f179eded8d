// The JSON-RPC requests that pages send, and the check of their methods.
#ifndef IBEMU_DAEMON_WEB_VIEW_VIEW_CALLS_H_
#define IBEMU_DAEMON_WEB_VIEW_VIEW_CALLS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "control/method_table.h"

namespace ibemu::daemon {

// Checks that the JSON-RPC request in `body` names a method that is for pages:
// those that look at the fabric, and those that change links, nodes and faults.
// A body that is no request passes; AnswerViewCall() answers with the error.
//
// Errors: PermissionDenied, naming the method.
absl::Status CheckViewCall(std::string_view body);

// Carries out such a request, on the loop thread.  Returns the response; empty
// for a notification.
std::string AnswerViewCall(const control::MethodTable& dispatcher,
                           std::string_view body);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_VIEW_VIEW_CALLS_H_
