#include "daemon/networks/switch_name.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/absl_text.h"
#include "ipoib/ethernet/switch_group.h"

namespace ibemu::daemon {

absl::Status CheckSwitchName(std::string_view name) {
  const bool sound =
      !name.empty() && name.size() <= ipoib::kLongestSwitchName &&
      absl::ascii_isalpha(static_cast<unsigned char>(name.front())) &&
      std::ranges::all_of(name, [](char c) {
        return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
      });
  constexpr std::string_view kTaken[] = {"lo", "all", "default"};
  constexpr std::string_view kOthers[] = {"ib", "tap"};
  const bool is_p_key =
      name.size() == 4 && std::ranges::all_of(name, [](char c) {
        return absl::ascii_isxdigit(static_cast<unsigned char>(c));
      });
  if (sound && !is_p_key && std::ranges::count(kTaken, name) == 0 &&
      std::ranges::none_of(kOthers, [name](std::string_view start) {
        return name.starts_with(start);
      })) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", Absl(name),
      "\" is no name of a switch: it is a letter and at most ",
      ipoib::kLongestSwitchName - 1,
      " letters, digits and underscores, none of lo, all and default, no P_Key "
      "of four digits, and begins neither with ib nor with tap"));
}

}  // namespace ibemu::daemon
