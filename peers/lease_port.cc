#include "peers/lease_port.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <thread>
#include <tuple>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/secret.h"
#include "base/status_macros.h"
#include "control/bounded_stream.h"
#include "launch/pass_descriptor.h"
#include "peers/node_link_carrier.h"
#include "peers/tls_relay.h"

namespace ibemu::peers {
namespace {

using nlohmann::json;

constexpr size_t kTokenBytes = std::tuple_size_v<Secret>;
// What the side that expected a token answers to it on an encrypted connection.
constexpr char kWelcome = 'w';
constexpr timeval kPeerConnectsWithin = {.tv_sec = 3, .tv_usec = 0};

// A network between the two that takes nothing for so long is none: by way of
// the subnet's daemon there may be one.
constexpr unsigned kGivesUpAfter = 1000;  // milliseconds

// For packets that are to arrive at once, whatever is on its way.
void Prepare(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &kGivesUpAfter,
             sizeof kGivesUpAfter);
}

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
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kPeerConnectsWithin,
             sizeof kPeerConnectsWithin);
  if (connect(socket.get(), found->ai_addr, found->ai_addrlen) != 0) {
    return absl::ErrnoToStatus(errno, address);
  }
  Prepare(socket.get());
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

absl::StatusOr<std::unique_ptr<LeasePort>> LeasePort::Open(
    Loop& loop, std::string certificates) {
  // Where there is no IPv6, IPv4 alone.
  sockaddr_in6 any6 = {};
  any6.sin6_family = AF_INET6;
  sockaddr_in any4 = {};
  any4.sin_family = AF_INET;
  UniqueFd socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  bool bound = socket.valid() &&
               bind(socket.get(), reinterpret_cast<const sockaddr*>(&any6),
                    sizeof any6) == 0;
  if (!bound) {
    socket = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    bound = socket.valid() &&
            bind(socket.get(), reinterpret_cast<const sockaddr*>(&any4),
                 sizeof any4) == 0;
  }
  sockaddr_storage name = {};
  socklen_t size = sizeof name;
  if (!bound || listen(socket.get(), SOMAXCONN) != 0 ||
      getsockname(socket.get(), reinterpret_cast<sockaddr*>(&name), &size) !=
          0) {
    return absl::ErrnoToStatus(errno, "a port for other machines' packets");
  }
  sockaddr_in6 in6 = {};
  sockaddr_in in4 = {};
  std::memcpy(&in6, &name, sizeof in6);
  std::memcpy(&in4, &name, sizeof in4);
  const uint16_t number =
      ntohs(name.ss_family == AF_INET6 ? in6.sin6_port : in4.sin_port);
  std::unique_ptr<LeasePort> port(
      new LeasePort(loop, std::move(certificates), std::move(socket), number));
  IBEMU_RETURN_IF_ERROR(port->Listen());
  return port;
}

absl::Status LeasePort::Listen() {
  IBEMU_RETURN_IF_ERROR(
      loop_.Watch(listener_.get(), [this] { OnConnection(); }));
  listens_ = true;
  return absl::OkStatus();
}

LeasePort::~LeasePort() {
  loop_.Cancel(listens_again_);
  if (listens_) loop_.Forget(listener_.get());
  while (!strangers_.empty()) Forget(strangers_.begin());
  for (const auto& [token, expected] : expected_) loop_.Cancel(expected.limit);
}

void LeasePort::AddTo(control::MethodTable& methods) {
  methods.Add("lease.meet",
              [this](control::Parameters& parameters, control::Caller& caller) {
                return Meet(parameters, caller);
              });
}

absl::StatusOr<json> LeasePort::Meet(control::Parameters& parameters,
                                     control::Caller& caller) {
  const std::string digits = parameters.Text("token", "");
  const std::string address = parameters.Text("address", "");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  UniqueFd line = caller.TakeDescriptor();
  IBEMU_RETURN_IF_ERROR(control::CheckStreamSocket(line.get(), "lease.meet"));
  if (digits.size() != 2 * kTokenBytes ||
      !std::ranges::all_of(digits, absl::ascii_isxdigit)) {
    return absl::InvalidArgumentError("a token has 32 digits");
  }
  const std::string token = absl::HexStringToBytes(digits);
  IBEMU_RETURN_IF_ERROR(address.empty()
                            ? Expect(token, std::move(line))
                            : Call(address, token, std::move(line)));
  return json::object();
}

// To connect may take seconds.
absl::Status LeasePort::Call(const std::string& address,
                             const std::string& token, UniqueFd line) {
  if (++*calls_ > kMostCalls) {
    --*calls_;
    return absl::ResourceExhaustedError("too many connections are being made");
  }
  std::thread([address, token, line = std::move(line), encrypts = encrypts_,
               certificates = certificates_, calls = calls_, relays = relays_] {
    absl::StatusOr<UniqueFd> socket = ConnectTo(address);
    if (socket.ok() && encrypts) {
      socket = TlsRelay::Start(TlsRelay::Side::kClient, *std::move(socket),
                               certificates, relays);
    }
    // A certificate is judged by the other side after the handshake.
    if (socket.ok() && SendAll(socket->get(), token) &&
        (!encrypts || IsWelcome(*socket))) {
      launch::SendDescriptor(line.get(), socket->get()).IgnoreError();
    }
    --*calls;
  }).detach();
  return absl::OkStatus();
}

absl::Status LeasePort::Expect(const std::string& token, UniqueFd line) {
  if (expected_.size() == kMostExpected) {
    return absl::ResourceExhaustedError("too many hosts are expected");
  }
  const auto [expected, is_new] =
      expected_.try_emplace(token, Expected{std::move(line)});
  if (!is_new) return absl::AlreadyExistsError("the token is not new");
  expected->second.limit =
      loop_.RunAfter(kWaitsFor, [this, token] { expected_.erase(token); });
  return absl::OkStatus();
}

void LeasePort::OnConnection() {
  UniqueFd socket(
      accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.valid()) {
    if (errno != EMFILE && errno != ENFILE) return;
    // It waits in the backlog.  Trying again at once would spin.
    loop_.Forget(listener_.get());
    listens_ = false;
    listens_again_ =
        loop_.RunAfter(absl::Seconds(1), [this] { Listen().IgnoreError(); });
    return;
  }
  Prepare(socket.get());
  if (encrypts_) {
    socket = TlsRelay::Start(TlsRelay::Side::kServer, std::move(socket),
                             certificates_, relays_)
                 .value_or(UniqueFd());
    if (!socket.valid()) return;
  }
  // Whoever opens many and says nothing is the first to go.
  if (strangers_.size() == kMostStrangers) Forget(strangers_.begin());
  strangers_.push_back({.socket = std::move(socket), .encrypted = encrypts_});
  const auto stranger = std::prev(strangers_.end());
  stranger->limit =
      loop_.RunAfter(kWaitsFor, [this, stranger] { Forget(stranger); });
  if (!loop_
           .Watch(stranger->socket.get(),
                  [this, stranger] { OnBytes(stranger); })
           .ok()) {
    Forget(stranger);
  }
}

void LeasePort::OnBytes(Strangers::iterator stranger) {
  std::array<char, kTokenBytes> bytes;
  const size_t left = kTokenBytes - stranger->token.size();
  const ssize_t count =
      recv(stranger->socket.get(), bytes.data(), left, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return Forget(stranger);
  stranger->token.append(bytes.data(), static_cast<size_t>(count));
  if (stranger->token.size() < kTokenBytes) return;
  const auto expected = expected_.find(stranger->token);
  if (expected != expected_.end()) {
    if (stranger->encrypted) {
      send(stranger->socket.get(), &kWelcome, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    launch::SendDescriptor(expected->second.line.get(), stranger->socket.get())
        .IgnoreError();
    loop_.Cancel(expected->second.limit);
    expected_.erase(expected);
  }
  Forget(stranger);
}

void LeasePort::Forget(Strangers::iterator stranger) {
  loop_.Cancel(stranger->limit);
  loop_.Forget(stranger->socket.get());
  strangers_.erase(stranger);
}

}  // namespace ibemu::peers
