// The lines of ibdm's files that tell a cable: "L1/P1 -4X-5G-> MT23108 H-1 P1".
#ifndef IBEMU_TOPOLOGY_FORMATS_TEXT_IBDM_ARROW_H_
#define IBEMU_TOPOLOGY_FORMATS_TEXT_IBDM_ARROW_H_

#include <initializer_list>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "topology/topology.h"

namespace ibemu::topology {

// What a port, a board or a cable allows; masks as in LinkRate, and no bit at
// all where the text does not say.
struct ArrowRate {
  LinkRate rate;

  bool HasWidth() const { return rate.width != 0; }
  bool HasSpeed() const {
    return (rate.speed | rate.speed_ext | rate.speed_ext2) != 0;
  }
  // What `outer` says counts where this says nothing.
  ArrowRate Within(const ArrowRate& outer) const;
};

// What all of them allow; 4x and SDR where none says otherwise.
LinkRate RateOfCable(std::initializer_list<ArrowRate> parts);

struct Arrow {
  std::string_view port;  // left of it
  ArrowRate rate;
  std::vector<std::string_view> words;  // right of it
};

bool HasArrow(std::string_view line);

// Errors: InvalidArgument, without a place.
absl::StatusOr<Arrow> ParseArrow(std::string_view line);

// The words of a line; `separators` count as white space.
std::vector<std::string_view> SplitWords(std::string_view line,
                                         std::string_view separators = "");

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_TEXT_IBDM_ARROW_H_
