// RankSwitches: the levels of the switches of a fat tree.
#ifndef IBEMU_FABRIC_ROUTING_SWITCH_RANKS_H_
#define IBEMU_FABRIC_ROUTING_SWITCH_RANKS_H_

#include <cstdint>
#include <vector>

#include "fabric/subnet/subnet.h"

namespace ibemu::fabric {

// Returns the rank of each switch, by node: the number of cables between
// switches on the way to the nearest host.  The values of other nodes mean
// nothing.  Cables count whether they are up or not, so that a cut does not
// change the ranks.
//
// The result is empty unless every cable between switches joins two different
// ranks, as in a fat tree.  A torus or a dragonfly has hosts everywhere, hence
// no up and down.
std::vector<uint16_t> RankSwitches(const Subnet& subnet);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_ROUTING_SWITCH_RANKS_H_
