// EventResponse(): an event as GET_EVENT gives it.
#ifndef IBEMU_CUSE_RDMA_CM_EVENT_RESPONSE_H_
#define IBEMU_CUSE_RDMA_CM_EVENT_RESPONSE_H_

#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>

#include "rdma_cm/id_event_queue.h"

namespace ibemu::cuse {

rdma_ucm_event_resp EventResponse(const rdma_cm::QueuedEvent& event);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_RDMA_CM_EVENT_RESPONSE_H_
