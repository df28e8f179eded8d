#include "control/json_text.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

namespace ibemu::control {
namespace {

// Returns how deep brackets nest that are not in strings: in JSON text the
// depth of its value, which costs no memory to find out.
int Depth(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      in_string = !in_string;
    } else if (in_string) {
      if (c == '\\') ++i;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

absl::StatusOr<nlohmann::json> ParseJson(std::string_view text) {
  if (Depth(text) > kDeepestJson) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the JSON text nests deeper than %d levels", kDeepestJson));
  }
  nlohmann::json value =
      nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) {
    return absl::InvalidArgumentError("the text is not JSON");
  }
  return value;
}

}  // namespace ibemu::control
