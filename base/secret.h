// Secret: a number that nobody can guess.
#ifndef IBEMU_BASE_SECRET_H_
#define IBEMU_BASE_SECRET_H_

#include <sys/random.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"

namespace ibemu {

// A Secret is a random number: only who was told it knows it.
using Secret = std::array<std::byte, 16>;

// Returns a new one.
inline Secret DrawSecret() {
  Secret secret;
  // getrandom() returns so few bytes in full.  Without them it could be
  // guessed.
  if (getrandom(secret.data(), secret.size(), 0) !=
      static_cast<ssize_t>(secret.size())) {
    abort();
  }
  return secret;
}

// Returns `secret` as 32 hexadecimal digits.
inline std::string SecretText(const Secret& secret) {
  return absl::BytesToHexString(absl::string_view(
      reinterpret_cast<const char*>(secret.data()), secret.size()));
}

// Returns OK if `text` is such digits.  Errors: InvalidArgument.
inline absl::Status CheckSecretText(absl::string_view text) {
  if (text.size() == 2 * std::tuple_size_v<Secret> &&
      std::ranges::all_of(text, absl::ascii_isxdigit)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("a token has 32 digits");
}

}  // namespace ibemu

#endif  // IBEMU_BASE_SECRET_H_
