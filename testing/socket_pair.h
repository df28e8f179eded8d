// Connected sockets.
#ifndef IBEMU_TESTING_SOCKET_PAIR_H_
#define IBEMU_TESTING_SOCKET_PAIR_H_

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <utility>

#include "base/unique_fd.h"

namespace ibemu::testing {

// Returns the two ends of a new pair of Unix sockets of this type.
inline std::pair<UniqueFd, UniqueFd> SocketPair(int type = SOCK_STREAM) {
  std::array<int, 2> ends = {-1, -1};
  EXPECT_EQ(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_SOCKET_PAIR_H_
