#include "base/socket_pair.h"

#include <array>
#include <cerrno>

#include "absl/status/status.h"

namespace ibemu {

absl::StatusOr<SocketPair> MakeSocketPair(int type) {
  std::array<int, 2> ends;
  if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return absl::ErrnoToStatus(errno, "socketpair");
  }
  return SocketPair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace ibemu
