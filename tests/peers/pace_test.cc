#include "peers/pace.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <string>

#include "base/unique_fd.h"
#include "testing/tcp_pair.h"

namespace ibemu::peers {
namespace {

std::string AlgorithmOf(int socket) {
  std::array<char, 16> name = {};
  socklen_t size = name.size();
  EXPECT_EQ(getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size),
            0);
  return name.data();
}

TEST(PaceTest, AConnectionToANearMachineIsNotPaced) {
  const auto [one, other] = testing::TcpPair(BeginUnpaced);
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
