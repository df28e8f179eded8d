#include "peers/lease_port.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>
#include <tuple>

#include "absl/strings/escaping.h"
#include "base/secret.h"
#include "base/status_macros.h"
#include "control/bounded_stream.h"
#include "launch/pass_descriptor.h"
#include "peers/pace.h"
#include "peers/tls_relay.h"
#include "peers/token_connection.h"

namespace ibemu::peers {
namespace {

using nlohmann::json;

constexpr size_t kTokenBytes = std::tuple_size_v<Secret>;

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
  if (bound) BeginUnpaced(socket.get());
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
  IBEMU_RETURN_IF_ERROR(port->acceptor_.Start());
  return port;
}

LeasePort::~LeasePort() {
  while (!strangers_.empty()) Forget(strangers_.begin());
  while (!expected_.empty()) Forget(expected_.begin());
}

void LeasePort::AddTo(control::MethodTable& methods) {
  methods.Add("lease.meet",
              [this](control::Parameters& parameters, control::Caller& caller) {
                return Meet(parameters, caller);
              });
  methods.Add("packets.await",
              [this](control::Parameters& parameters, control::Caller& caller) {
                return Await(parameters, caller);
              });
}

absl::StatusOr<json> LeasePort::Meet(control::Parameters& parameters,
                                     control::Caller& caller) {
  const std::string digits = parameters.Text("token", "");
  const std::string address = parameters.Text("address", "");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  UniqueFd line = caller.TakeDescriptor();
  IBEMU_RETURN_IF_ERROR(control::CheckStreamSocket(line.get(), "lease.meet"));
  IBEMU_RETURN_IF_ERROR(CheckSecretText(digits));
  const std::string token = absl::HexStringToBytes(digits);
  IBEMU_RETURN_IF_ERROR(address.empty()
                            ? Expect(token, std::move(line), kLeaseGivesUpAfter)
                            : Call(address, token, std::move(line)));
  return json::object();
}

absl::StatusOr<json> LeasePort::Await(control::Parameters& parameters,
                                      control::Caller& caller) {
  const std::string digits = parameters.Text("token", "");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_RETURN_IF_ERROR(
      AwaitPackets("packets.await", digits, caller.TakeDescriptor()));
  return json::object();
}

absl::Status LeasePort::AwaitPackets(std::string_view method,
                                     const std::string& digits, UniqueFd line) {
  IBEMU_RETURN_IF_ERROR(control::CheckStreamSocket(line.get(), method));
  IBEMU_RETURN_IF_ERROR(CheckSecretText(digits));
  return Expect(absl::HexStringToBytes(digits), std::move(line),
                kPacketsGiveUpAfter);
}

// To connect may take seconds.
absl::Status LeasePort::Call(const std::string& address,
                             const std::string& token, UniqueFd line) {
  if (++*calls_ > kMaxCalls) {
    --*calls_;
    return absl::ResourceExhaustedError("too many connections are being made");
  }
  try {
    std::thread([address, token, line = std::move(line), encrypts = encrypts_,
                 tls = tls_, calls = calls_] {
      const absl::StatusOr<UniqueFd> socket = ConnectByToken(
          address, token, kLeaseGivesUpAfter, encrypts ? &tls : nullptr);
      if (socket.ok()) {
        launch::SendDescriptor(line.get(), socket->get()).IgnoreError();
      }
      --*calls;
    }).detach();
  } catch (const std::system_error& error) {
    --*calls_;
    return absl::ResourceExhaustedError(error.what());
  }
  return absl::OkStatus();
}

absl::Status LeasePort::Expect(const std::string& token, UniqueFd line,
                               absl::Duration gives_up_after) {
  if (expected_.size() == kMaxExpected) {
    return absl::ResourceExhaustedError("too many hosts are expected");
  }
  const auto [expected, is_new] =
      expected_.try_emplace(token, Expected{std::move(line), gives_up_after});
  if (!is_new) return absl::AlreadyExistsError("the token is not new");
  const auto forget = [this, expected = expected] { Forget(expected); };
  expected->second.limit = loop_.RunAfter(kWaitsFor, forget);
  // Who has the other end has nothing to say, and hangs up.
  absl::Status watched = loop_.Watch(expected->second.line.get(), forget);
  if (!watched.ok()) Forget(expected);
  return watched;
}

void LeasePort::OnConnection(UniqueFd socket) {
  UniqueFd tcp(fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
  if (!tcp.valid()) return acceptor_.Pause();
  if (encrypts_) {
    socket = TlsRelay::Start(TlsRelay::Side::kServer, std::move(socket),
                             tls_.certificates, tls_.relays)
                 .value_or(UniqueFd());
    if (!socket.valid()) return;
  }
  // Whoever opens many and says nothing is the first to go.
  if (strangers_.size() == kMaxStrangers) Forget(strangers_.begin());
  strangers_.push_back({.socket = std::move(socket),
                        .tcp = std::move(tcp),
                        .encrypted = encrypts_});
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
    PrepareForPackets(stranger->tcp.get(), expected->second.gives_up_after);
    if (stranger->encrypted) {
      send(stranger->socket.get(), &kWelcome, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    launch::SendDescriptor(expected->second.line.get(), stranger->socket.get())
        .IgnoreError();
    Forget(expected);
  }
  Forget(stranger);
}

void LeasePort::Forget(Strangers::iterator stranger) {
  loop_.Cancel(stranger->limit);
  loop_.Forget(stranger->socket.get());
  strangers_.erase(stranger);
}

void LeasePort::Forget(AllExpected::iterator expected) {
  loop_.Cancel(expected->second.limit);
  loop_.Forget(expected->second.line.get());
  expected_.erase(expected);
}

}  // namespace ibemu::peers
