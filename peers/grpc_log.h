// The log of gRPC, which goes to standard error unless somebody takes it.
#ifndef IBEMU_PEERS_GRPC_LOG_H_
#define IBEMU_PEERS_GRPC_LOG_H_

namespace ibemu::peers {

// From now on, lets it tell of peers that are refused, once a second at most.
void LogRefusals();

// From now on, lets it say nothing: its errors are told as statuses.
void LogNothing();

}  // namespace ibemu::peers

#endif  // IBEMU_PEERS_GRPC_LOG_H_
