// Arrow: a line of ibdm's files that describes a cable, such as "L1/P1 -4X-5G->
// MT23108 H-1 P1".
#ifndef IBEMU_TOPOLOGY_FORMATS_TEXT_IBDM_ARROW_H_
#define IBEMU_TOPOLOGY_FORMATS_TEXT_IBDM_ARROW_H_

#include <initializer_list>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "topology/topology.h"

namespace ibemu::topology {

// The rates that a port, a board or a cable allows, as masks like those of
// LinkRate.  A mask is empty if the text does not specify it.
struct ArrowRate {
  LinkRate rate;

  bool HasWidth() const { return rate.width != 0; }
  bool HasSpeed() const {
    return (rate.speed | rate.speed_ext | rate.speed_ext2) != 0;
  }
  // Returns this rate, with the masks of `outer` in place of empty ones.
  ArrowRate Within(const ArrowRate& outer) const;
};

// Returns the rates that all parts allow.  Width and speed are 4x and SDR if no
// part specifies them.
LinkRate RateOfCable(std::initializer_list<ArrowRate> parts);

// A parsed line.
struct Arrow {
  std::string_view port;  // left of the arrow
  ArrowRate rate;
  std::vector<std::string_view> words;  // right of the arrow
};

bool HasArrow(std::string_view line);

// Errors: InvalidArgument, with a message that does not give the line.
absl::StatusOr<Arrow> ParseArrow(std::string_view line);

// Splits a line into words.  `separators` count as white space.
std::vector<std::string_view> SplitWords(std::string_view line,
                                         std::string_view separators = "");

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_TEXT_IBDM_ARROW_H_
