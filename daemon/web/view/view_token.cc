#include "daemon/web/view/view_token.h"

#include <sys/random.h>

#include <array>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/str_format.h"

namespace ibemu::daemon {

std::string MakeViewToken() {
  std::array<uint64_t, 2> bits{};
  // getrandom() returns so few bytes in full.  Without them the token could be
  // guessed.
  if (getrandom(bits.data(), sizeof bits, 0) != sizeof bits) abort();
  return absl::StrFormat("%016x%016x", bits[0], bits[1]);
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
