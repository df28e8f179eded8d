// Link speeds as ibdm writes them, in Gbit/s per lane.
#ifndef IBEMU_TOPOLOGY_FORMATS_TEXT_LANE_SPEED_H_
#define IBEMU_TOPOLOGY_FORMATS_TEXT_LANE_SPEED_H_

#include <string_view>

#include "topology/topology.h"

namespace ibemu::topology {

inline constexpr std::string_view kLaneSpeeds =
    "2.5, 5, 10, 14, 25, 50, 100, 200";

// Sets the speeds of `rate`.  Returns false if `text` is none of kLaneSpeeds.
bool ParseLaneSpeed(std::string_view text, LinkRate& rate);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_TEXT_LANE_SPEED_H_
