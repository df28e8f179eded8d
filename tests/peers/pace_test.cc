#include "peers/pace.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <utility>

#include "base/unique_fd.h"

namespace ibemu::peers {
namespace {

// Two ends of a connection by way of localhost, which begins unpaced.
std::pair<UniqueFd, UniqueFd> TcpPair() {
  const UniqueFd listening(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in here = {};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const address = reinterpret_cast<sockaddr*>(&here);
  socklen_t size = sizeof here;
  BeginUnpaced(listening.get());
  EXPECT_EQ(bind(listening.get(), address, size), 0);
  EXPECT_EQ(listen(listening.get(), 1), 0);
  EXPECT_EQ(getsockname(listening.get(), address, &size), 0);
  UniqueFd one(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  BeginUnpaced(one.get());
  EXPECT_EQ(connect(one.get(), address, size), 0);
  UniqueFd other(accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
  return {std::move(one), std::move(other)};
}

std::string AlgorithmOf(int socket) {
  std::array<char, 16> name = {};
  socklen_t size = name.size();
  EXPECT_EQ(getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size),
            0);
  return name.data();
}

TEST(PaceTest, AConnectionToANearMachineIsNotPaced) {
  const auto [one, other] = TcpPair();
  const std::string machines = MachinesAlgorithm();
  const std::string expected = machines == "bbr" ? "reno" : machines;
  for (const int end : {one.get(), other.get()}) {
    EXPECT_EQ(AlgorithmOf(end), expected);
    PaceIfFar(end);
    EXPECT_EQ(AlgorithmOf(end), expected);
  }
}

// A socket that is not connected has no round trip.
TEST(PaceTest, AConnectionOfUnknownLengthHasTheMachinesAlgorithm) {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  BeginUnpaced(socket.get());
  PaceIfFar(socket.get());
  EXPECT_EQ(AlgorithmOf(socket.get()), MachinesAlgorithm());
}

}  // namespace
}  // namespace ibemu::peers
