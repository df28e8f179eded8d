#include "peers/pace.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "base/unique_fd.h"

namespace ibemu::peers {
namespace {

constexpr std::string_view kPaced = "bbr";
constexpr std::string_view kUnpaced = "reno";
constexpr size_t kLongestAlgorithm = 16;      // Linux's TCP_CA_NAME_MAX
constexpr uint32_t kNearMicroseconds = 5000;  // there and back

void Choose(int socket, std::string_view algorithm) {
  setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, algorithm.data(),
             static_cast<socklen_t>(algorithm.size()));
}

}  // namespace

const std::string& MachinesAlgorithm() {
  static const std::string algorithm = [] {
    const UniqueFd fresh(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    std::array<char, kLongestAlgorithm> name = {};
    socklen_t size = name.size() - 1;
    getsockopt(fresh.get(), IPPROTO_TCP, TCP_CONGESTION, name.data(), &size);
    return std::string(name.data());
  }();
  return algorithm;
}

void BeginUnpaced(int socket) {
  if (MachinesAlgorithm() == kPaced) Choose(socket, kUnpaced);
}

void PaceIfFar(int socket) {
  if (MachinesAlgorithm() != kPaced) return;
  tcp_info info = {};
  socklen_t size = sizeof info;
  const bool is_near =
      getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
      info.tcpi_rtt > 0 &&  // else it is not known
      info.tcpi_rtt <= kNearMicroseconds;
  if (!is_near) Choose(socket, kPaced);
}

}  // namespace ibemu::peers
