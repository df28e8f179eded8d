#include "peers/token_connection.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/unique_fd.h"

namespace ibemu::peers {
namespace {

// Two ends of a connection by way of localhost.
std::pair<UniqueFd, UniqueFd> TcpPair() {
  const UniqueFd listening(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in here = {};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const address = reinterpret_cast<sockaddr*>(&here);
  socklen_t size = sizeof here;
  EXPECT_EQ(bind(listening.get(), address, size), 0);
  EXPECT_EQ(listen(listening.get(), 1), 0);
  EXPECT_EQ(getsockname(listening.get(), address, &size), 0);
  UniqueFd one(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(connect(one.get(), address, size), 0);
  UniqueFd other(accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
  return {std::move(one), std::move(other)};
}

bool Choose(const UniqueFd& socket, std::string_view algorithm) {
  return setsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, algorithm.data(),
                    static_cast<socklen_t>(algorithm.size())) == 0;
}

std::string AlgorithmOf(const UniqueFd& socket) {
  std::array<char, 16> name = {};
  socklen_t size = name.size();
  EXPECT_EQ(
      getsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, name.data(), &size),
      0);
  return name.data();
}

TEST(PrepareForPacketsTest, ABbrConnectionToANearMachineIsNotPaced) {
  const auto [one, other] = TcpPair();
  if (!Choose(one, "bbr")) GTEST_SKIP() << "this kernel has no BBR";
  PrepareForPackets(one.get(), kLeaseGivesUpAfter);
  EXPECT_EQ(AlgorithmOf(one), "reno");
}

TEST(PrepareForPacketsTest, AnotherAlgorithmOfTheMachineStays) {
  const auto [one, other] = TcpPair();
  std::string chosen = AlgorithmOf(one);
  for (const char* const algorithm : {"cubic", "dctcp"}) {
    if (chosen == "bbr" && Choose(one, algorithm)) chosen = algorithm;
  }
  if (chosen == "bbr") GTEST_SKIP() << "this machine lets us choose no other";
  PrepareForPackets(one.get(), kLeaseGivesUpAfter);
  EXPECT_EQ(AlgorithmOf(one), chosen);
}

}  // namespace
}  // namespace ibemu::peers
