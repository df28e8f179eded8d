// PeerListener: the TCP port at which other machines connect.
#ifndef IBEMU_PEERS_PEER_LISTENER_H_
#define IBEMU_PEERS_PEER_LISTENER_H_

#include <sys/socket.h>

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"
#include "loop/acceptor.h"
#include "loop/loop.h"

namespace ibemu::peers {

// A PeerListener accepts connections for gRPC, whose own listener accepts none
// any more when descriptors have run out once.  Of connections whose peer has
// proved nothing yet, strangers, it keeps a bounded number, and a part of the
// descriptors for what those need who are connected.
class PeerListener {
 public:
  // The one who came first goes first.
  static constexpr size_t kMaxStrangers = 256;
  // gRPC ends a handshake before.
  static constexpr absl::Duration kIsStrangerFor = absl::Seconds(6);

  // `address`: as of AddressIn().  `gives_up_after`: of a connection that takes
  // nothing.  `loop` must outlive it.
  //
  // Errors: FailedPrecondition, nobody can listen there.
  static absl::StatusOr<std::unique_ptr<PeerListener>> Open(
      Loop& loop, const std::string& address, absl::Duration gives_up_after);
  ~PeerListener();
  PeerListener(const PeerListener&) = delete;
  PeerListener& operator=(const PeerListener&) = delete;

  // Where it listens; with port 0, with the one that the kernel chose.
  const std::string& bound() const { return bound_; }

  // Hands each connection to `take` from now on.
  //
  // Errors: those of Loop::Watch().
  absl::Status Start(std::function<void(UniqueFd)> take);

  // The connection from `endpoint` ("10.0.0.7:41234", "[fe80::1%2]:41234")
  // is none of a stranger.  May be called by any thread, as long as the loop
  // runs.
  void Trust(const std::string& endpoint);

  size_t strangers() const { return strangers_.size(); }

 private:
  struct Stranger {
    std::string endpoint;
    UniqueFd socket;  // by which it can be ended, whatever gRPC does meanwhile
    TimerId limit = TimerId::kNone;
  };
  using Strangers = std::list<Stranger>;

  PeerListener(Loop& loop, std::vector<UniqueFd> listening, std::string bound)
      : loop_(loop),
        listening_(std::move(listening)),
        bound_(std::move(bound)) {}

  void OnConnection(UniqueFd socket, const sockaddr_storage& from);
  void Forget(Strangers::iterator stranger);

  Loop& loop_;
  const std::vector<UniqueFd> listening_;
  const std::string bound_;
  std::function<void(UniqueFd)> take_;
  Strangers strangers_;
  std::optional<Acceptor> acceptor_;
};

}  // namespace ibemu::peers

#endif  // IBEMU_PEERS_PEER_LISTENER_H_
