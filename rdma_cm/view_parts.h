// ViewParts: the parts of a view that all its ids share.
#ifndef IBEMU_RDMA_CM_VIEW_PARTS_H_
#define IBEMU_RDMA_CM_VIEW_PARTS_H_

#include "base/random.h"
#include "base/timers.h"
#include "rdma_cm/host/adapter.h"
#include "rdma_cm/port_binding.h"
#include "rdma_cm/routing.h"

namespace ibemu::rdma_cm {

// A ViewParts is one for each RdmaCmView.
struct ViewParts {
  Timers& timers;
  AdapterList& adapters;
  Random random;
  Routing routing;
  PortChooser ports;
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_VIEW_PARTS_H_
