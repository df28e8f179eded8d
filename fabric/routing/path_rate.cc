#include "fabric/routing/path_rate.h"

#include <algorithm>
#include <array>

#include "mad/wire/port_codes.h"

namespace ibemu::fabric {
namespace {

struct Rate {
  int bandwidth;
  uint8_t code;
};

// The rates in units of 100 Mb/s.  They are nominal, as in their names: the
// overhead of 8/10 and 64/66 coding is ignored.
constexpr std::array<Rate, 23> kSlowToFast = {{
    {25, 2},    {50, 5},    {100, 3},   {140, 11},  {200, 6},    {250, 15},
    {280, 19},  {300, 4},   {400, 7},   {500, 20},  {560, 12},   {600, 8},
    {800, 9},   {1000, 16}, {1120, 13}, {1200, 10}, {1680, 14},  {2000, 17},
    {3000, 18}, {4000, 21}, {6000, 22}, {8000, 23}, {12000, 24},
}};

size_t PlaceOf(uint8_t code) {
  return static_cast<size_t>(
      std::find_if(kSlowToFast.begin(), kSlowToFast.end(),
                   [code](const Rate& rate) { return rate.code == code; }) -
      kSlowToFast.begin());
}

int Lanes(uint8_t width) {
  switch (width) {
    case mad::link_width::k2x:
      return 2;
    case mad::link_width::k4x:
      return 4;
    case mad::link_width::k8x:
      return 8;
    case mad::link_width::k12x:
      return 12;
    default:
      return 1;
  }
}

int LaneBandwidth(const mad::PortInfo& info) {
  if (info.link_speed_ext_active2 != 0) return 2000;
  switch (info.link_speed_ext_active) {
    case mad::link_speed_ext::kFdr:
      return 140;
    case mad::link_speed_ext::kEdr:
      return 250;
    case mad::link_speed_ext::kHdr:
      return 500;
    case mad::link_speed_ext::kNdr:
      return 1000;
    default:
      break;
  }
  switch (info.link_speed_active) {
    case mad::link_speed::kQdr:
      return 100;
    case mad::link_speed::kDdr:
      return 50;
    default:
      return 25;
  }
}

}  // namespace

bool IsPathRate(uint8_t code) { return PlaceOf(code) < kSlowToFast.size(); }

int ComparePathRates(uint8_t a, uint8_t b) {
  const int left = IsPathRate(a) ? static_cast<int>(PlaceOf(a)) : -1;
  const int right = IsPathRate(b) ? static_cast<int>(PlaceOf(b)) : -1;
  return left - right;
}

uint8_t SlowerPathRate(uint8_t code) {
  const size_t place = PlaceOf(code);
  return place == 0 || place == kSlowToFast.size()
             ? 0
             : kSlowToFast[place - 1].code;
}

int LinkBandwidth(const mad::PortInfo& info) {
  return LaneBandwidth(info) * Lanes(info.link_width_active);
}

uint8_t PathRateWithin(int bandwidth) {
  uint8_t best = kSlowToFast.front().code;
  for (const Rate& rate : kSlowToFast) {
    if (rate.bandwidth <= bandwidth) best = rate.code;
  }
  return best;
}

}  // namespace ibemu::fabric
