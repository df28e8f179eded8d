#include "cli/verbs/list_pages.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
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

std::string HexText(const json& number) {
  return absl::StrFormat("0x%x", number.get<uint64_t>());
}

std::string FillText(const json& held, const json& size) {
  return absl::StrCat(held.get<uint64_t>(), "/", size.get<uint64_t>());
}

}  // namespace ibemu::cli
