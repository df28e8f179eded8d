// JSON text that comes from outside.
#ifndef IBEMU_CONTROL_JSON_TEXT_H_
#define IBEMU_CONTROL_JSON_TEXT_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::control {

// The depth to which JSON text may nest.  The library copies and writes values
// recursively, so that deeper ones could overflow the stack.
inline constexpr int kDeepestJson = 64;

// The value of one JSON text.  Every text that another program wrote is parsed
// here: requests, responses, events.
//
// Errors: InvalidArgument if `text` is not JSON, or nests deeper than
// kDeepestJson; never an exception.
absl::StatusOr<nlohmann::json> ParseJson(std::string_view text);

}  // namespace ibemu::control

#endif  // IBEMU_CONTROL_JSON_TEXT_H_
