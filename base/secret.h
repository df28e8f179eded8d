// Secret: a number that nobody can guess.
#ifndef IBEMU_BASE_SECRET_H_
#define IBEMU_BASE_SECRET_H_

#include <sys/random.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdlib>

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

}  // namespace ibemu

#endif  // IBEMU_BASE_SECRET_H_
