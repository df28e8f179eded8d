#include "daemon/words/change_words.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "daemon/words/port_text.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

absl::StatusOr<bool> Choose(const std::string& text, std::string_view yes,
                            std::string_view no) {
  if (text == yes) return true;
  if (text == no) return false;
  return absl::InvalidArgumentError(
      absl::StrFormat("\"%s\" is neither \"%s\" nor \"%s\"", text, yes, no));
}

}  // namespace

absl::StatusOr<json> LinkChange(const std::string& port,
                                const std::string& direction,
                                const std::string& duration) {
  IBEMU_ASSIGN_OR_RETURN(const PortText end, ParsePort(port));
  IBEMU_ASSIGN_OR_RETURN(const bool up, Choose(direction, "up", "down"));
  json parameters = {{"node", end.node}, {"port", end.port}, {"up", up}};
  if (!duration.empty()) {
    absl::Duration time;
    if (!absl::ParseDuration(duration, &time) || time < absl::Milliseconds(1)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--for=", duration, ": write a time such as 10s, 500ms or 2m"));
    }
    parameters["for_ms"] = absl::ToInt64Milliseconds(time);
  }
  return parameters;
}

absl::StatusOr<json> NodeChange(const std::string& node,
                                const std::string& direction) {
  IBEMU_ASSIGN_OR_RETURN(const bool up, Choose(direction, "up", "down"));
  return json{{"node", node}, {"up", up}};
}

absl::StatusOr<json> PresenceChange(const std::string& node,
                                    const std::string& direction) {
  IBEMU_ASSIGN_OR_RETURN(const bool present,
                         Choose(direction, "add", "remove"));
  return json{{"node", node}, {"present", present}};
}

absl::StatusOr<json> CounterChange(const std::string& port,
                                   std::vector<std::string> changes) {
  IBEMU_ASSIGN_OR_RETURN(const PortText end, ParsePort(port));
  json parameters = {{"node", end.node}, {"port", end.port}};
  if (!changes.empty() && changes.front() == "clear") {
    parameters["clear"] = true;
    changes.erase(changes.begin());
  }
  parameters["set"] = changes;
  return parameters;
}

}  // namespace ibemu::daemon
