// Which way is up.
#ifndef IBEMU_FABRIC_ROUTING_SWITCH_RANKS_H_
#define IBEMU_FABRIC_ROUTING_SWITCH_RANKS_H_

#include <cstdint>
#include <vector>

#include "fabric/subnet/subnet.h"

namespace ibemu::fabric {

// How many cables lie between each switch and the nearest host, by node; of
// other nodes any value.  Cables count whether they are up or not, so that a
// cut turns nothing upside down.
//
// Empty unless every cable between switches joins two ranks, as in a fat tree:
// a torus or a dragonfly has hosts everywhere, hence neither up nor down.
std::vector<uint16_t> RankSwitches(const Subnet& subnet);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_ROUTING_SWITCH_RANKS_H_
