#include "topology/formats/text/lane_speed.h"

#include "topology/rate_text.h"

namespace ibemu::topology {
namespace {

struct LaneSpeed {
  std::string_view text, name;
};
constexpr LaneSpeed kSpeedWords[] = {
    {"2.5", "sdr"}, {"5", "ddr"},  {"10", "qdr"},  {"14", "fdr"},
    {"25", "edr"},  {"50", "hdr"}, {"100", "ndr"}, {"200", "xdr"}};

}  // namespace

bool ParseLaneSpeed(std::string_view text, LinkRate& rate) {
  for (const LaneSpeed& speed : kSpeedWords) {
    if (text == speed.text) return ParseLinkSpeed(speed.name, rate);
  }
  return false;
}

}  // namespace ibemu::topology
