// Connections between peers: gRPC with TLS, in which both sides show
// certificates.
#ifndef IBEMU_PEERS_CONNECTION_H_
#define IBEMU_PEERS_CONNECTION_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace ibemu::peers {

inline constexpr char kDefaultPort[] = "7471";

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
// `address`; "[::]:7471" is every address of this machine.  `bound`: the one
// that it has, with port 0 the one that the kernel chose.  A peer without a
// certificate of our authority is refused before anything of it is read.
// `certificates`: as above.
//
// Errors: FailedPrecondition, nobody can listen there.
absl::StatusOr<std::unique_ptr<grpc::Server>> Serve(
    const std::string& address, const std::string& certificates,
    grpc::Service& service, std::string& bound);

}  // namespace ibemu::peers

#endif  // IBEMU_PEERS_CONNECTION_H_
