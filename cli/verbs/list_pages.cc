#include "cli/verbs/list_pages.h"

#include <utility>

#include "base/status_macros.h"
#include "control/client.h"
#include "nlohmann/json.hpp"

namespace ibemu::cli {

using nlohmann::json;

absl::StatusOr<json> ListPages(const std::string& fabric,
                               std::string_view method, const std::string& node,
                               std::string_view key) {
  IBEMU_ASSIGN_OR_RETURN(control::Client client,
                         control::Client::Connect(fabric));
  json all = json::array();
  for (json from = 0; !from.is_null();) {
    IBEMU_ASSIGN_OR_RETURN(
        json page, client.Call(method, {{"node", node}, {"from", from}}));
    for (json& item : page[std::string(key)]) all.push_back(std::move(item));
    from = page["next"];
  }
  return all;
}

}  // namespace ibemu::cli
