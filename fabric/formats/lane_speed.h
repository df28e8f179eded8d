// Speeds as ibdm writes them: Gbit/s of one lane.
#ifndef IBEMU_FABRIC_FORMATS_LANE_SPEED_H_
#define IBEMU_FABRIC_FORMATS_LANE_SPEED_H_

#include <string_view>

#include "fabric/topology.h"

namespace ibemu::fabric {

inline constexpr std::string_view kLaneSpeeds =
    "2.5, 5, 10, 14, 25, 50, 100, 200";

// Sets the speeds of `rate`.  False: `text` is none of kLaneSpeeds.
bool ParseLaneSpeed(std::string_view text, LinkRate& rate);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FORMATS_LANE_SPEED_H_
