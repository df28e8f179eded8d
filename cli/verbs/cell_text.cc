#include "cli/verbs/cell_text.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

namespace ibemu::cli {

using nlohmann::json;

std::string HexText(const json& number) {
  return absl::StrFormat("0x%x", number.get<uint64_t>());
}

std::string FillText(const json& held, const json& size) {
  return absl::StrCat(held.get<uint64_t>(), "/", size.get<uint64_t>());
}

}  // namespace ibemu::cli
