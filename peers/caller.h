// The caller of a gRPC service, by the context of the call.
#ifndef IBEMU_PEERS_CALLER_H_
#define IBEMU_PEERS_CALLER_H_

#include <grpcpp/grpcpp.h>

#include <string>

namespace ibemu::peers {

// Returns the caller's address and port: "10.0.0.7:41234", "[fd00::1]:41234",
// or with the number of our interface "[fe80::1%2]:41234".
std::string EndpointOf(const grpc::ServerContext& context);

// Returns its address alone.
std::string AddressOf(const grpc::ServerContext& context);

// Returns the name that its certificate has: "pc7".
std::string NameOf(const grpc::ServerContext& context);

// Returns name and address, for people: "pc7 (10.0.0.7)".
std::string PeerOf(const grpc::ServerContext& context);

}  // namespace ibemu::peers

#endif  // IBEMU_PEERS_CALLER_H_
