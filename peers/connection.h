// Connections between peers: gRPC with TLS, in which both sides show
// certificates.
#ifndef IBEMU_PEERS_CONNECTION_H_
#define IBEMU_PEERS_CONNECTION_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "peers/peer_listener.h"
#include "peers/waiting_calls.h"

namespace ibemu::peers {

inline constexpr char kDefaultPort[] = "7471";
// A connection on which a peer is silent, or takes nothing, for as long is gone
// (the first after it was asked whether it is there).
inline constexpr absl::Duration kAnswersWithin = absl::Seconds(3);

// "HOST:PORT", from a text that may lack either; `host` is for one that does.
//
// Errors: InvalidArgument.
absl::StatusOr<std::string> AddressIn(const std::string& text,
                                      const std::string& host);

// A channel to the peer at `address`.  It connects when it is used, and again
// when the connection is lost: that it is lost shows within seconds.
// `certificates`: this machine's folder, see CheckCertificates(), which is
// looked at again every ten seconds, for connections that are made later.
std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address,
                                           const std::string& certificates);

// Serves `service`, beside it gRPC's health checks and reflection, at
// `listener`, which is not to be started yet.  A peer without a certificate of
// our authority is refused before anything of it is read.  `certificates`: as
// above.  `waiting` bounds the calls of other services that hold a thread.  All
// must outlive the result.
//
// Errors: those of PeerListener::Start(), or Internal.
absl::StatusOr<std::unique_ptr<grpc::Server>> Serve(
    PeerListener& listener, const std::string& certificates,
    grpc::Service& service, WaitingCalls& waiting);

}  // namespace ibemu::peers

#endif  // IBEMU_PEERS_CONNECTION_H_
