// TlsRelay: TLS between a daemon of this machine and another machine.
#ifndef IBEMU_PEERS_TLS_RELAY_H_
#define IBEMU_PEERS_TLS_RELAY_H_

#include <openssl/ssl.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace ibemu::peers {

// A TlsRelay passes on what comes over a local stream socket to a peer,
// encrypted, and what the peer sends the other way.  Both sides show
// certificates of one authority; what they are called is not looked at, for a
// peer is known by its address only.  TLS 1.3.
//
// It lives on a thread of its own, until one side hangs up.  After the
// handshake, all that this one has sent is passed on before; what the other one
// has sent by then may be lost.
class TlsRelay {
 public:
  enum class Side { kClient, kServer };

  // Starts one for `peer`, a TCP connection, and returns the other end of its
  // local socket.  That is closed when the handshake fails; the reason is
  // logged.  Who closes it ends a handshake that takes too long.
  // `certificates`: this machine's folder, which is read now.  `running` counts
  // relays, 2,048 of which are the most.
  //
  // Errors: ResourceExhausted, those of the system calls.
  static absl::StatusOr<UniqueFd> Start(
      Side side, UniqueFd peer, std::string certificates,
      const std::shared_ptr<std::atomic<int>>& running);

 private:
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };
  using Context = std::unique_ptr<SSL_CTX, Free>;

  // What has been taken from one side, and the other has not yet.
  struct Bytes {
    std::array<char, 65536> bytes;
    size_t begin = 0, end = 0;

    bool empty() const { return begin == end; }
  };
  // What came of moving bytes: some were, none could be, or a side has ended.
  enum class Moved { kSome, kNone, kEnded };

  TlsRelay(UniqueFd peer, UniqueFd local)
      : peer_(std::move(peer)), local_(std::move(local)) {}

  static absl::StatusOr<Context> MakeContext(const std::string& certificates);
  // Errors: FailedPrecondition, with what OpenSSL says of the certificates.
  absl::Status Prepare(Side side, const std::string& certificates);
  // Returns when the peer has proved who it is.
  //
  // Errors: Unauthenticated, with what OpenSSL says; Cancelled, nobody waits
  // for it any more.
  absl::Status Handshake();
  void Run();
  // Poll events that TLS waits for after `result`; 0: it has ended.
  int WantedAfter(int result) const;
  Moved Outward();
  Moved Inward();
  // Waits for events.  Returns those of `local_`.
  int Await();

  const UniqueFd peer_, local_;
  std::unique_ptr<SSL, Free> ssl_;
  Bytes out_, in_;
  int peer_events_ = 0, local_events_ = 0;  // that are waited for
};

}  // namespace ibemu::peers

#endif  // IBEMU_PEERS_TLS_RELAY_H_
