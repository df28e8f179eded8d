// FetchInFlight: a request for data, whose response has not arrived yet.
#ifndef IBEMU_FABRIC_SOFT_HCA_TRANSPORT_FETCH_IN_FLIGHT_H_
#define IBEMU_FABRIC_SOFT_HCA_TRANSPORT_FETCH_IN_FLIGHT_H_

#include <cstddef>
#include <cstdint>

#include "fabric/soft_hca/transport/posted_send.h"
#include "verbs/parts/memory_transfer.h"

namespace ibemu::fabric {

// A request packet for a part of an RDMA READ, or for an atomic operation,
// until its result is in memory.
struct FetchInFlight {
  PostedSend& send;
  size_t start, length;         // within the message
  uint32_t next_psn, last_psn;  // of its response packets
  size_t received = 0;
  bool answered = false, complete = false;
  verbs::MemoryTransfer arrived{};
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_TRANSPORT_FETCH_IN_FLIGHT_H_
