// Lists that the control socket gives page by page.
#ifndef IBEMU_CLI_VERBS_LIST_PAGES_H_
#define IBEMU_CLI_VERBS_LIST_PAGES_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::cli {

// Returns all that `method` of a fabric's daemon lists of a node, or of all if
// `node` is empty: what its answers have as `key`, until their "next" is null.
//
// Errors: Client::Connect()'s and those of the method.
absl::StatusOr<nlohmann::json> ListPages(const std::string& fabric,
                                         std::string_view method,
                                         const std::string& node,
                                         std::string_view key);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_VERBS_LIST_PAGES_H_
