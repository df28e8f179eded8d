#include "hca/bus/interrupt_fds.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace ibemu::hca {

absl::StatusOr<std::vector<UniqueFd>> MakeInterruptFds(int count) {
  std::vector<UniqueFd> fds;
  for (int i = 0; i < count; ++i) {
    fds.emplace_back(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (fds.back().valid()) continue;
    return absl::ResourceExhaustedError(
        absl::StrCat("no eventfd for an interrupt: ", std::strerror(errno),
                     " (\"ulimit -n\" says how many files there may be)"));
  }
  return fds;
}

}  // namespace ibemu::hca
