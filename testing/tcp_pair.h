// TcpPair(): two connected TCP sockets.
#ifndef IBEMU_TESTING_TCP_PAIR_H_
#define IBEMU_TESTING_TCP_PAIR_H_

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <functional>
#include <utility>

#include "base/unique_fd.h"

namespace ibemu::testing {

// Returns the two ends of a new connection by way of localhost: who has
// connected, and what was accepted.  `prepare` is called before with the socket
// that connects and with the one that listens.
inline std::pair<UniqueFd, UniqueFd> TcpPair(
    const std::function<void(int)>& prepare = [](int) {}) {
  const auto make = [&] {
    UniqueFd made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    prepare(made.get());
    return made;
  };
  const UniqueFd listening = make();
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const address = reinterpret_cast<sockaddr*>(&name);
  socklen_t size = sizeof name;
  EXPECT_EQ(bind(listening.get(), address, size), 0);
  EXPECT_EQ(listen(listening.get(), 1), 0);
  EXPECT_EQ(getsockname(listening.get(), address, &size), 0);
  UniqueFd one = make();
  EXPECT_EQ(connect(one.get(), address, size), 0);
  UniqueFd other(accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
  EXPECT_TRUE(other.valid());
  return {std::move(one), std::move(other)};
}

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_TCP_PAIR_H_
