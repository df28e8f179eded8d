// ConnectByToken: a TCP connection to another machine's LeasePort.
#ifndef IBEMU_PEERS_TOKEN_CONNECTION_H_
#define IBEMU_PEERS_TOKEN_CONNECTION_H_

#include <atomic>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"

namespace ibemu::peers {

// A Tls is what a TlsRelay needs.
struct Tls {
  std::string certificates;  // this machine's folder
  std::shared_ptr<std::atomic<int>> relays =
      std::make_shared<std::atomic<int>>(0);
};

// The answer to a token on an encrypted connection, from the side that expected
// it.
inline constexpr char kWelcome = 'w';

// The times for which a connection lasts though the network, or who is to read,
// takes nothing of it.  Packets of a lease that ends go through the subnet's
// daemon, which another network may lead to.  The connection of a node link's
// packets takes a second or more to be made again, and a daemon that is stopped
// for a while keeps it.
inline constexpr absl::Duration kLeaseGivesUpAfter = absl::Seconds(1);
inline constexpr absl::Duration kPacketsGiveUpAfter = absl::Minutes(1);

// Sets a TCP connection up for packets that are to arrive at once, whatever is
// on its way: PaceIfFar().  `gives_up_after`:
// one of these; with the longer one it is kept alive while it says nothing.
void PrepareForPackets(int socket, absl::Duration gives_up_after);

// Connects to `address`, "10.0.0.7:40123" or "[fe80::1]:40123" and no name, and
// says `token`, as bytes.  Waits for seconds.  `tls`: null, or the connection
// is encrypted, and what is returned is a local socket.
//
// Errors: InvalidArgument, it is no address; Unavailable, nobody there knows
// the token; those of the system calls and of TlsRelay.
absl::StatusOr<UniqueFd> ConnectByToken(const std::string& address,
                                        const std::string& token,
                                        absl::Duration gives_up_after,
                                        const Tls* tls);

}  // namespace ibemu::peers

#endif  // IBEMU_PEERS_TOKEN_CONNECTION_H_
