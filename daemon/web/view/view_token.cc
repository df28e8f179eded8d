#include "daemon/web/view/view_token.h"

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "base/secret.h"

namespace ibemu::daemon {

std::string MakeViewToken() {
  const Secret secret = DrawSecret();
  return absl::BytesToHexString(absl::string_view(
      reinterpret_cast<const char*>(secret.data()), secret.size()));
}

bool HasViewToken(std::string_view authorization, std::string_view token) {
  constexpr std::string_view kScheme = "Bearer ";
  if (!authorization.starts_with(kScheme)) return false;
  const std::string_view shown = authorization.substr(kScheme.size());
  if (shown.size() != token.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < token.size(); ++i) {
    difference |= static_cast<unsigned char>(shown[i]) ^
                  static_cast<unsigned char>(token[i]);
  }
  return difference == 0;
}

}  // namespace ibemu::daemon
