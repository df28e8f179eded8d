// The events of a program that stand for those of the communication manager.
#ifndef IBEMU_RDMA_CM_VALUES_CM_EVENTS_H_
#define IBEMU_RDMA_CM_VALUES_CM_EVENTS_H_

#include <cstddef>
#include <vector>

#include "cm/cm_id.h"
#include "rdma_cm/values/event.h"

namespace ibemu::rdma_cm {

// Returns the event of a connection (cma_ib_handler()).
// REQUIRES: it is not one of service ID resolution.
Event EventOfConnection(const cm::CmEvent& event);

// Return the event of a request whose user data are `data`.
Event EventOfRequest(const cm::CmRequest& request, std::vector<std::byte> data);
Event EventOfSidrRequest(std::vector<std::byte> data);

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_VALUES_CM_EVENTS_H_
