// PathQuestion: the request of an id to subnet administration for a path.
#ifndef IBEMU_RDMA_CM_VALUES_PATH_QUESTION_H_
#define IBEMU_RDMA_CM_VALUES_PATH_QUESTION_H_

#include <cstdint>

#include "mad/wire/sa_paths.h"
#include "rdma_cm/values/socket_address.h"

namespace ibemu::rdma_cm {

// A Get(PathRecord): cma_query_ib_route().
struct PathQuestion {
  mad::PathRecord record{};
  uint64_t mask = 0;  // mad::kComponentBit

  struct Wish {
    wire::Gid dgid{};
    wire::Gid sgid{};
    uint16_t pkey = 0;
    uint64_t service_id = 0;
    uint8_t type_of_service = 0;
  };
  // With IPv4 the class of service is asked for as the QoS class, else as the
  // traffic class in the source's flow information.
  static PathQuestion For(const SocketAddress& source, const Wish& wish);
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_VALUES_PATH_QUESTION_H_
