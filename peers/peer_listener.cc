#include "peers/peer_listener.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "wire/ip_address.h"
#include "wire/ip_text.h"

namespace ibemu::peers {
namespace {

// Of all descriptors, one part of so many is kept, and as many are at most for
// strangers, who have two each.
constexpr uint64_t kKeptPart = 4, kStrangersPart = 8;

uint64_t DescriptorLimit() {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

uint16_t PortOf(const sockaddr_storage& name) {
  sockaddr_in6 in6 = {};
  sockaddr_in in4 = {};
  std::memcpy(&in6, &name, sizeof in6);
  std::memcpy(&in4, &name, sizeof in4);
  return ntohs(name.ss_family == AF_INET6 ? in6.sin6_port : in4.sin_port);
}

wire::IpAddress IpOf(const sockaddr_storage& name) {
  if (name.ss_family == AF_INET) {
    sockaddr_in in4 = {};
    std::memcpy(&in4, &name, sizeof in4);
    return wire::IpAddress::Ipv4(ntohl(in4.sin_addr.s_addr));
  }
  sockaddr_in6 in6 = {};
  std::memcpy(&in6, &name, sizeof in6);
  if (IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr)) {
    uint32_t last = 0;
    std::memcpy(&last, &in6.sin6_addr.s6_addr[12], sizeof last);
    return wire::IpAddress::Ipv4(ntohl(last));
  }
  return wire::IpAddress::Ipv6(std::to_array(in6.sin6_addr.s6_addr));
}

// As gRPC names it.
std::string EndpointText(const sockaddr_storage& name) {
  const wire::IpAddress address = IpOf(name);
  const std::string text = wire::AddressText(address);
  if (address.is_ipv4()) return absl::StrCat(text, ":", PortOf(name));
  sockaddr_in6 in6 = {};
  std::memcpy(&in6, &name, sizeof in6);
  const std::string scope =
      in6.sin6_scope_id == 0 ? "" : absl::StrCat("%", in6.sin6_scope_id);
  return absl::StrCat("[", text, scope, "]:", PortOf(name));
}

void SetOption(int socket, int level, int option, int value) {
  setsockopt(socket, level, option, &value, sizeof value);
}

// Listens at `at`, with its port, or `port` if that is another than 0, which
// becomes the one that it has.  Invalid, with errno, if nobody can.
UniqueFd ListenAt(const addrinfo& at, int gives_up_after, uint16_t& port) {
  sockaddr_storage name = {};
  std::memcpy(&name, at.ai_addr, std::min<size_t>(at.ai_addrlen, sizeof name));
  UniqueFd socket(
      ::socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return {};
  const int fd = socket.get();
  // At once after one before us, but not beside one.
  SetOption(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  // Of the connections, too.
  SetOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, gives_up_after);
  if (at.ai_family == AF_INET6) {
    SetOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    reinterpret_cast<sockaddr_in6*>(&name)->sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in*>(&name)->sin_port = htons(port);
  }
  socklen_t size = at.ai_addrlen;
  if (bind(fd, reinterpret_cast<const sockaddr*>(&name), size) != 0 ||
      listen(fd, SOMAXCONN) != 0) {
    return {};
  }
  size = sizeof name;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size) != 0) {
    return {};
  }
  port = PortOf(name);
  return socket;
}

// Listens at all addresses that `host` has, all with the same port; at none if
// that is not possible at one, but for addresses that this machine has not.
std::vector<UniqueFd> ListenAtAll(const std::string& host, int gives_up_after,
                                  uint16_t& port) {
  std::vector<UniqueFd> sockets;
  addrinfo hints = {};
  hints.ai_flags = AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return sockets;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    if (at->ai_family != AF_INET && at->ai_family != AF_INET6) continue;
    UniqueFd socket = ListenAt(*at, gives_up_after, port);
    if (socket.valid()) {
      sockets.push_back(std::move(socket));
    } else if (errno != EAFNOSUPPORT && errno != EADDRNOTAVAIL) {
      sockets.clear();
      break;
    }
  }
  freeaddrinfo(found);
  return sockets;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PeerListener>> PeerListener::Open(
    Loop& loop, const std::string& address, absl::Duration gives_up_after) {
  const size_t colon = address.rfind(':');
  const std::string host = address.substr(0, colon);
  uint16_t port = static_cast<uint16_t>(std::stoi(address.substr(colon + 1)));
  absl::string_view bare = host;
  if (absl::ConsumePrefix(&bare, "[")) absl::ConsumeSuffix(&bare, "]");
  const int patience =
      static_cast<int>(absl::ToInt64Milliseconds(gives_up_after));
  std::vector<UniqueFd> listening =
      ListenAtAll(std::string(bare), patience, port);
  // Where there is no IPv6, IPv4 alone.
  if (listening.empty() && bare == "::") {
    listening = ListenAtAll("0.0.0.0", patience, port);
  }
  if (listening.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        address,
        ": can't listen there: the port may be taken, or the address "
        "not one of this machine"));
  }
  return std::unique_ptr<PeerListener>(new PeerListener(
      loop, std::move(listening), absl::StrCat(host, ":", port)));
}

PeerListener::~PeerListener() {
  while (!strangers_.empty()) Forget(strangers_.begin());
}

absl::Status PeerListener::Start(std::function<void(UniqueFd)> take) {
  take_ = std::move(take);
  std::vector<int> sockets;
  for (const UniqueFd& each : listening_) sockets.push_back(each.get());
  acceptor_.emplace(loop_, std::move(sockets),
                    [this](UniqueFd socket, const sockaddr_storage& from) {
                      OnConnection(std::move(socket), from);
                    });
  return acceptor_->Start();
}

void PeerListener::OnConnection(UniqueFd socket, const sockaddr_storage& from) {
  const uint64_t limit = DescriptorLimit();
  // It has the lowest number that is free.  The rest is for those who are
  // connected, and gRPC may be about to close many.
  if (static_cast<uint64_t>(socket.get()) >= limit - limit / kKeptPart) {
    return acceptor_->Pause();
  }
  UniqueFd second(fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
  if (!second.valid()) return acceptor_->Pause();
  // Whoever opens many and says nothing is the first to go.
  const uint64_t most =
      std::min(uint64_t{kMaxStrangers}, limit / kStrangersPart);
  while (strangers_.size() >= std::max(most, uint64_t{1})) {
    shutdown(strangers_.front().socket.get(), SHUT_RDWR);
    Forget(strangers_.begin());
  }
  strangers_.push_back(
      {.endpoint = EndpointText(from), .socket = std::move(second)});
  const auto stranger = std::prev(strangers_.end());
  stranger->limit =
      loop_.RunAfter(kIsStrangerFor, [this, stranger] { Forget(stranger); });
  take_(std::move(socket));
}

void PeerListener::Trust(const std::string& endpoint) {
  loop_.Post([this, endpoint] {
    const auto found =
        std::ranges::find(strangers_, endpoint, &Stranger::endpoint);
    if (found != strangers_.end()) Forget(found);
  });
}

void PeerListener::Forget(Strangers::iterator stranger) {
  loop_.Cancel(stranger->limit);
  strangers_.erase(stranger);
}

}  // namespace ibemu::peers
