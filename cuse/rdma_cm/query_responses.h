// The answers to QUERY and QUERY_ROUTE.
#ifndef IBEMU_CUSE_RDMA_CM_QUERY_RESPONSES_H_
#define IBEMU_CUSE_RDMA_CM_QUERY_RESPONSES_H_

#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>

#include <cstddef>
#include <vector>

#include "rdma_cm/id.h"

namespace ibemu::cuse {

// RDMA_USER_CM_QUERY_ADDR and RDMA_USER_CM_QUERY_GID.
rdma_ucm_query_addr_resp AddressResponse(const rdma_cm::Id& id);
rdma_ucm_query_addr_resp GidResponse(const rdma_cm::Id& id);

// RDMA_USER_CM_QUERY_PATH: with the path, if there is one and room for it.
std::vector<std::byte> PathResponse(const rdma_cm::Id& id, size_t room);

rdma_ucm_query_route_resp RouteResponse(const rdma_cm::Id& id);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_RDMA_CM_QUERY_RESPONSES_H_
