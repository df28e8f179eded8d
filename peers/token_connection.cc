#include "peers/token_connection.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "peers/node_link_carrier.h"
#include "peers/pace.h"
#include "peers/tls_relay.h"

namespace ibemu::peers {
namespace {

constexpr timeval kPeerConnectsWithin = {.tv_sec = 3, .tv_usec = 0};

// A firewall forgets connections that say nothing.  Linux ends a connection at
// the first probe that is not answered when its TCP_USER_TIMEOUT is over, so
// there are none where that is shorter than some probes.
constexpr absl::Duration kProbesEvery = absl::Seconds(10);

// "10.0.0.7:40123" or "[fe80::1]:40123", and no name.
absl::StatusOr<UniqueFd> ConnectTo(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat(address, " has no port"));
  }
  std::string_view host = std::string_view(address).substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints = {};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(std::string(host).c_str(), address.c_str() + colon + 1,
                  &hints, &found) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(address, " is no address"));
  }
  const absl::Cleanup freed = [found] { freeaddrinfo(found); };
  UniqueFd socket(
      ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!socket.valid()) return absl::ErrnoToStatus(errno, "socket");
  BeginUnpaced(socket.get());
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kPeerConnectsWithin,
             sizeof kPeerConnectsWithin);
  if (connect(socket.get(), found->ai_addr, found->ai_addrlen) != 0) {
    return absl::ErrnoToStatus(errno, address);
  }
  return socket;
}

// Waits until the other side has found the token to be good.
bool IsWelcome(const UniqueFd& socket) {
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kPeerConnectsWithin,
             sizeof kPeerConnectsWithin);
  char answer = 0;
  return recv(socket.get(), &answer, 1, 0) == 1 && answer == kWelcome;
}

}  // namespace

void PrepareForPackets(int socket, absl::Duration gives_up_after) {
  const auto set = [socket](int level, int option, int value) {
    setsockopt(socket, level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  PaceIfFar(socket);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT,
      static_cast<int>(absl::ToInt64Milliseconds(gives_up_after)));
  if (gives_up_after < 3 * kProbesEvery) return;
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  for (const int option : {TCP_KEEPIDLE, TCP_KEEPINTVL}) {
    set(IPPROTO_TCP, option,
        static_cast<int>(absl::ToInt64Seconds(kProbesEvery)));
  }
}

absl::StatusOr<UniqueFd> ConnectByToken(const std::string& address,
                                        const std::string& token,
                                        absl::Duration gives_up_after,
                                        const Tls* tls) {
  IBEMU_ASSIGN_OR_RETURN(UniqueFd socket, ConnectTo(address));
  PrepareForPackets(socket.get(), gives_up_after);
  if (tls != nullptr) {
    IBEMU_ASSIGN_OR_RETURN(
        socket, TlsRelay::Start(TlsRelay::Side::kClient, std::move(socket),
                                tls->certificates, tls->relays));
  }
  // A certificate is judged by the other side after the handshake.
  if (SendAll(socket.get(), token) && (tls == nullptr || IsWelcome(socket))) {
    return socket;
  }
  return absl::UnavailableError(
      absl::StrCat(address, ": nobody there expects us"));
}

}  // namespace ibemu::peers
