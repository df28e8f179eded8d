// QueuePairStatus: the state of a queue pair, as its adapter tells it.
#ifndef IBEMU_FABRIC_SOFT_HCA_QUEUE_PAIR_STATUS_H_
#define IBEMU_FABRIC_SOFT_HCA_QUEUE_PAIR_STATUS_H_

#include <cstddef>
#include <cstdint>

#include "verbs/hw_counters.h"
#include "verbs/qp_attributes.h"

namespace ibemu::fabric {

// A queue pair as it is at this moment.
struct QueuePairStatus {
  uint32_t number = 0;
  verbs::QpType type{};
  verbs::QpState state{};
  int port = 0;  // 0: none yet
  // The peer of a connection; 0: none yet.
  uint16_t peer_lid = 0;
  uint32_t peer_qpn = 0;
  // Work requests: the places of the queue, those that are taken up, and those
  // of them whose packets have left and which are not complete.
  size_t send_size = 0, sends = 0, outstanding = 0;
  size_t receive_size = 0, receives = 0;  // 0 of 0 with a shared receive queue
  bool shared_receive_queue = false;
  uint64_t process = 0;  // that owns it, see verbs::Memory::process()
  verbs::HwCounters counters;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_QUEUE_PAIR_STATUS_H_
