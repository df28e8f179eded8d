// AdapterFaults: all faults of software adapters.
#ifndef IBEMU_FABRIC_SOFT_HCA_ADAPTER_FAULTS_H_
#define IBEMU_FABRIC_SOFT_HCA_ADAPTER_FAULTS_H_

#include <cstdint>

#include "base/timers.h"
#include "fabric/faults/queue_pair_faults.h"
#include "fabric/soft_hca/faults/event_faults.h"
#include "fabric/soft_hca/faults/resource_faults.h"
#include "fabric/soft_hca/faults/work_request_faults.h"
#include "fabric/subnet/fabric_events.h"
#include "fabric/subnet/subnet.h"

namespace ibemu::fabric {

// The faults of adapters, by kind.  They stay while an adapter is pulled out.
struct AdapterFaults {
  // See QueuePairFaults.
  AdapterFaults(Subnet& subnet, FabricEvents& events, Timers& timers,
                uint64_t seed)
      : packets(subnet, events, timers, seed), requests(timers) {}

  QueuePairFaults packets;
  WorkRequestFaults requests;
  ResourceFaults resources;
  EventFaults events;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_ADAPTER_FAULTS_H_
