#include "daemon/web/view/view_calls.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "absl/strings/str_format.h"
#include "control/json_text.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

// The methods for pages.  None of them takes a descriptor, goes on after its
// response or starts a program.
constexpr std::string_view kForPages[] = {
    "status",       "nodes",          "links",         "link.set",
    "node.set",     "node.status",    "fault.add",     "fault.list",
    "fault.remove", "counter.get",    "path.trace",    "forwarding.show",
    "health",       "partitions",     "link.history",  "qp.list",
    "qp.show",      "cq.list",        "mr.list",       "srq.list",
    "mcast.list",   "queue_pair.why", "connection.why"};

// The caller of a page's request.  It keeps nothing, since each request has a
// connection of its own.
class Page : public control::Caller {
 public:
  UniqueFd TakeDescriptor() override { return UniqueFd(); }
  int pid() const override { return -1; }
  void Keep(std::shared_ptr<void>) override {}
};

}  // namespace

absl::Status CheckViewCall(std::string_view body) {
  const absl::StatusOr<nlohmann::json> request = control::ParseJson(body);
  if (!request.ok() || !request->is_object()) return absl::OkStatus();
  const auto method = request->find("method");
  if (method == request->end() || !method->is_string()) return absl::OkStatus();
  const auto& name = method->get_ref<const std::string&>();
  if (std::ranges::find(kForPages, name) != std::end(kForPages)) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(absl::StrFormat(
      "\"%s\" is no method for pages: use the control socket", name));
}

std::string AnswerViewCall(const control::MethodTable& dispatcher,
                           std::string_view body) {
  Page page;
  return dispatcher.Handle(body, page);
}

}  // namespace ibemu::daemon
