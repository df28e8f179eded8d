#include "peers/tls_relay.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/socket_pair.h"
#include "base/status_macros.h"
#include "loop/signals.h"
#include "peers/certificates.h"
#include "peers/refusal_log.h"

namespace ibemu::peers {
namespace {

constexpr int kMaxRelays = 2048;

// What OpenSSL has to say, which is forgotten then.
std::string Reason() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "the connection was closed";
  if (ERR_SYSTEM_ERROR(code)) return std::strerror(ERR_GET_REASON(code));
  const char* const reason = ERR_reason_error_string(code);
  return reason == nullptr ? absl::StrCat("error ", code) : reason;
}

// Nobody is there to type a password.
int NoPassword(char*, int, int, void*) { return -1; }

}  // namespace

absl::StatusOr<UniqueFd> TlsRelay::Start(
    Side side, UniqueFd peer, std::string certificates,
    const std::shared_ptr<std::atomic<int>>& running) {
  const std::shared_ptr<void> counted(nullptr,
                                      [running](void*) { --*running; });
  if (++*running > kMaxRelays) {
    return absl::ResourceExhaustedError("too many encrypted connections");
  }
  IBEMU_ASSIGN_OR_RETURN(SocketPair plain, MakeSocketPair());
  std::unique_ptr<TlsRelay> relay(
      new TlsRelay(std::move(peer), std::move(plain.theirs)));
  try {
    std::thread([relay = std::move(relay), counted, side,
                 certificates = std::move(certificates)] {
      // OpenSSL writes to a peer that has gone, too.
      BlockSignals({SIGPIPE});
      absl::Status status = relay->Prepare(side, certificates);
      if (status.ok()) status = relay->Handshake();
      if (status.ok()) return relay->Run();
      if (!absl::IsCancelled(status)) LogRefusal(std::string(status.message()));
    }).detach();
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(error.what());
  }
  return std::move(plain.ours);
}

absl::StatusOr<TlsRelay::Context> TlsRelay::MakeContext(
    const std::string& certificates) {
  const auto file = [&](const char* name) {
    return absl::StrCat(certificates, "/", name);
  };
  ERR_clear_error();
  Context context(SSL_CTX_new(TLS_method()));
  SSL_CTX* const raw = context.get();
  if (raw == nullptr) return absl::FailedPreconditionError(Reason());
  SSL_CTX_set_default_passwd_cb(raw, &NoPassword);
  if (SSL_CTX_set_min_proto_version(raw, TLS1_3_VERSION) != 1 ||
      SSL_CTX_use_certificate_chain_file(raw, file(kCertificateFile).c_str()) !=
          1 ||
      SSL_CTX_use_PrivateKey_file(raw, file(kKeyFile).c_str(),
                                  SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_load_verify_locations(raw, file(kAuthorityFile).c_str(),
                                    nullptr) != 1) {
    return absl::FailedPreconditionError(
        absl::StrCat(certificates, ": ", Reason()));
  }
  SSL_CTX_set_verify(raw, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                     nullptr);
  SSL_CTX_set_mode(
      raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // No connection is resumed.
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(raw, 0);
  return context;
}

absl::Status TlsRelay::Prepare(Side side, const std::string& certificates) {
  IBEMU_ASSIGN_OR_RETURN(const Context context, MakeContext(certificates));
  fcntl(peer_.get(), F_SETFL, fcntl(peer_.get(), F_GETFL) | O_NONBLOCK);
  ssl_.reset(SSL_new(context.get()));
  if (ssl_ == nullptr || SSL_set_fd(ssl_.get(), peer_.get()) != 1) {
    return absl::FailedPreconditionError(Reason());
  }
  if (side == Side::kClient) {
    SSL_set_connect_state(ssl_.get());
  } else {
    SSL_set_accept_state(ssl_.get());
  }
  return absl::OkStatus();
}

int TlsRelay::WantedAfter(int result) const {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return POLLIN;
    case SSL_ERROR_WANT_WRITE:
      return POLLOUT;
    default:
      return 0;
  }
}

int TlsRelay::Await() {
  // Poll tells of a hang-up unasked: of a side that is waited for alone.
  pollfd fds[] = {{.fd = peer_events_ != 0 ? peer_.get() : -1,
                   .events = static_cast<short>(peer_events_),
                   .revents = 0},
                  {.fd = local_events_ != 0 ? local_.get() : -1,
                   .events = static_cast<short>(local_events_),
                   .revents = 0}};
  while (poll(fds, 2, -1) < 0 && errno == EINTR) {
  }
  return fds[1].revents;
}

absl::Status TlsRelay::Handshake() {
  local_events_ = POLLRDHUP;
  while (true) {
    ERR_clear_error();
    const int result = SSL_do_handshake(ssl_.get());
    if (result == 1) return absl::OkStatus();
    peer_events_ = WantedAfter(result);
    if (peer_events_ == 0) return absl::UnauthenticatedError(Reason());
    if (Await() != 0) return absl::CancelledError("nobody waits for it");
  }
}

// A side is read from only when all that it said before has been passed on, so
// nothing is left when it ends.
TlsRelay::Moved TlsRelay::Outward() {
  if (out_.empty()) {
    const ssize_t count =
        recv(local_.get(), out_.bytes.data(), out_.bytes.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
      local_events_ |= POLLIN;
      return Moved::kNone;
    }
    if (count <= 0) return Moved::kEnded;
    out_.begin = 0;
    out_.end = static_cast<size_t>(count);
  }
  ERR_clear_error();
  const int written = SSL_write(ssl_.get(), out_.bytes.data() + out_.begin,
                                static_cast<int>(out_.end - out_.begin));
  if (written > 0) {
    out_.begin += static_cast<size_t>(written);
    return Moved::kSome;
  }
  const int wanted = WantedAfter(written);
  peer_events_ |= wanted;
  return wanted == 0 ? Moved::kEnded : Moved::kNone;
}

TlsRelay::Moved TlsRelay::Inward() {
  if (in_.empty()) {
    ERR_clear_error();
    const int read = SSL_read(ssl_.get(), in_.bytes.data(),
                              static_cast<int>(in_.bytes.size()));
    if (read <= 0) {
      const int wanted = WantedAfter(read);
      peer_events_ |= wanted;
      return wanted == 0 ? Moved::kEnded : Moved::kNone;
    }
    in_.begin = 0;
    in_.end = static_cast<size_t>(read);
  }
  const ssize_t sent = send(local_.get(), in_.bytes.data() + in_.begin,
                            in_.end - in_.begin, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent >= 0) {
    in_.begin += static_cast<size_t>(sent);
    return Moved::kSome;
  }
  if (errno != EAGAIN && errno != EINTR) return Moved::kEnded;
  local_events_ |= POLLOUT;
  return Moved::kNone;
}

void TlsRelay::Run() {
  while (true) {
    peer_events_ = local_events_ = 0;
    const Moved out = Outward();
    if (out == Moved::kEnded) {
      SSL_shutdown(ssl_.get());  // says that this was all
      return;
    }
    const Moved in = Inward();
    if (in == Moved::kEnded) return;
    if (out == Moved::kNone && in == Moved::kNone) Await();
  }
}

}  // namespace ibemu::peers
