// Statuses of gRPC and of absl, which have the same codes.
#ifndef IBEMU_PEERS_GRPC_STATUS_H_
#define IBEMU_PEERS_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"

namespace ibemu::peers {

inline grpc::Status ToGrpc(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.raw_code()),
          std::string(status.message())};
}

inline absl::Status FromGrpc(const grpc::Status& status) {
  return {static_cast<absl::StatusCode>(status.error_code()),
          status.error_message()};
}

}  // namespace ibemu::peers

#endif  // IBEMU_PEERS_GRPC_STATUS_H_
