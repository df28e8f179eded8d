// Ground: what all ids of a view stand on.
#ifndef IBEMU_RDMA_CM_GROUND_H_
#define IBEMU_RDMA_CM_GROUND_H_

#include "base/random.h"
#include "base/timers.h"
#include "rdma_cm/host/adapter.h"
#include "rdma_cm/port_binding.h"
#include "rdma_cm/routing.h"

namespace ibemu::rdma_cm {

// The parts of a view that all its ids share.
struct Ground {
  Timers& timers;
  AdapterList& adapters;
  Random random;
  Routing routing;
  PortChooser ports;
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_GROUND_H_
