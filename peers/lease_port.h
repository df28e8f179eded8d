// LeasePort: the TCP port for connections of packets between machines.
#ifndef IBEMU_PEERS_LEASE_PORT_H_
#define IBEMU_PEERS_LEASE_PORT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"
#include "control/method_table.h"
#include "loop/acceptor.h"
#include "loop/loop.h"
#include "nlohmann/json.hpp"
#include "peers/token_connection.h"

namespace ibemu::peers {

// A LeasePort makes the connections by which packets go beside the node links,
// out and in, and hands each to the daemon.  A connection that comes in begins
// with a token; if the token is not expected, the connection is closed, else
// the daemon reads what follows. Tokens are told over the node links, which are
// encrypted; these connections are not, as on InfiniBand, unless SetEncrypts()
// says so.
class LeasePort {
 public:
  // Connections whose token has not come yet, and tokens that are expected.
  static constexpr size_t kMaxStrangers = 256;
  static constexpr size_t kMaxExpected = 4096;
  // Connections that are being made.
  static constexpr int kMaxCalls = 64;
  // The longest time for either of the first two.
  static constexpr absl::Duration kWaitsFor = absl::Seconds(10);

  // Listens at a port that the kernel chooses, on all addresses.  `loop` must
  // outlive it.  `certificates`: this machine's folder, for encrypted
  // connections.
  //
  // Errors: those of the system calls.
  static absl::StatusOr<std::unique_ptr<LeasePort>> Open(
      Loop& loop, std::string certificates);
  ~LeasePort();
  LeasePort(const LeasePort&) = delete;
  LeasePort& operator=(const LeasePort&) = delete;

  uint16_t number() const { return number_; }

  // Says whether each connection from now on is one by TLS, of which the daemon
  // gets what a TlsRelay makes of it.
  void SetEncrypts(bool encrypts) { encrypts_ = encrypts; }

  // Adds
  //   lease.meet  {"token": "...", "address": "10.0.0.7:40123"} and one end of
  //               a pair of stream sockets.  The caller gets, by
  //               launch::SendDescriptor() over it, a connection to the address
  //               on which the token was sent; without "address", one that came
  //               in with the token.  If there is none, it is closed
  //   packets.await  {"token": "..."} and such an end: the same as the second,
  //               for the connection of a node link's packets, which the
  //               machine that has the subnet makes
  void AddTo(control::MethodTable& methods);

  // What packets.await does, for a method of this name.  Errors:
  // ResourceExhausted, too many are expected; those of what it is given.
  absl::Status AwaitPackets(std::string_view method, const std::string& digits,
                            UniqueFd line);

 private:
  // A connection whose token has not come yet.
  struct Stranger {
    UniqueFd socket;
    UniqueFd tcp;  // the same, or what `socket` is encrypted on
    bool encrypted = false;
    std::string token{};
    TimerId limit = TimerId::kNone;
  };
  using Strangers = std::list<Stranger>;
  struct Expected {
    UniqueFd line;
    absl::Duration gives_up_after;  // of the connection
    TimerId limit = TimerId::kNone;
  };

  using AllExpected = std::map<std::string, Expected>;  // by token

  LeasePort(Loop& loop, std::string certificates, UniqueFd listener,
            uint16_t number)
      : loop_(loop),
        tls_{.certificates = std::move(certificates)},
        listener_(std::move(listener)),
        number_(number) {}

  absl::StatusOr<nlohmann::json> Meet(control::Parameters& parameters,
                                      control::Caller& caller);
  absl::StatusOr<nlohmann::json> Await(control::Parameters& parameters,
                                       control::Caller& caller);
  absl::Status Call(const std::string& address, const std::string& token,
                    UniqueFd line);
  absl::Status Expect(const std::string& token, UniqueFd line,
                      absl::Duration gives_up_after);
  void OnConnection(UniqueFd socket);
  void OnBytes(Strangers::iterator stranger);
  void Forget(Strangers::iterator stranger);
  void Forget(AllExpected::iterator expected);

  Loop& loop_;
  const Tls tls_;
  bool encrypts_ = false;
  const UniqueFd listener_;
  const uint16_t number_;
  Strangers strangers_;
  AllExpected expected_;
  Acceptor acceptor_{loop_,
                     {listener_.get()},
                     [this](UniqueFd socket, const sockaddr_storage&) {
                       OnConnection(std::move(socket));
                     }};
  // Of threads, which may outlive this.
  const std::shared_ptr<std::atomic<int>> calls_ =
      std::make_shared<std::atomic<int>>(0);
};

}  // namespace ibemu::peers

#endif  // IBEMU_PEERS_LEASE_PORT_H_
