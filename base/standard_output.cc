#include "base/standard_output.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

namespace ibemu {
namespace {

// The errno of the first write that failed: stdio remembers only that one did.
int first_error = 0;

bool Write(std::string_view text, bool now) {
  if (first_error != 0) return false;
  errno = 0;
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
      (!now || std::fflush(stdout) == 0);
  if (!written) first_error = errno == 0 ? EIO : errno;
  return written;
}

}  // namespace

void Print(std::string_view text) { Write(text, /*now=*/false); }

bool PrintNow(std::string_view text) { return Write(text, /*now=*/true); }

int FinishOutput(std::string_view program, int status) {
  if (PrintNow("")) return status;
  if (first_error == EPIPE) {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  std::fprintf(stderr, "%s: cannot write to standard output: %s\n",
               std::string(program).c_str(), std::strerror(first_error));
  return status == 0 ? 1 : status;
}

}  // namespace ibemu
