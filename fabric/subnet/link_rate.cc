#include "fabric/subnet/link_rate.h"

#include <array>
#include <bit>

#include "mad/wire/port_codes.h"

namespace ibemu::fabric {
namespace {

namespace width = mad::link_width;
constexpr std::array<uint8_t, 5> kNarrowToWide = {
    width::k1x, width::k2x, width::k4x, width::k8x, width::k12x};

uint8_t Widest(unsigned mask) {
  uint8_t widest = 0;
  for (const uint8_t one : kNarrowToWide) {
    if ((mask & one) != 0) widest = one;
  }
  return widest;
}

uint8_t Fastest(unsigned mask) {
  return static_cast<uint8_t>(std::bit_floor(mask));
}

// The widths and speeds that a port offers in training.  In PortInfo the code
// for "all supported" has every bit set, and the code for "disabled" would look
// like a mask.
unsigned Widths(const mad::PortInfo& info) {
  return info.link_width_supported & info.link_width_enabled;
}
unsigned Speeds(const mad::PortInfo& info) {
  return info.link_speed_supported & info.link_speed_enabled;
}
unsigned ExtendedSpeeds(const mad::PortInfo& info) {
  if (info.link_speed_ext_enabled == mad::link_speed_ext::kDisabled) return 0;
  return info.link_speed_ext_supported & info.link_speed_ext_enabled;
}
unsigned ExtendedSpeeds2(const mad::PortInfo& info) {
  if (info.link_speed_ext_enabled2 == mad::link_speed_ext2::kDisabled) return 0;
  return info.link_speed_ext_supported2 & info.link_speed_ext_enabled2;
}

}  // namespace

NegotiatedRate Negotiate(const mad::PortInfo& a, const mad::PortInfo& b) {
  NegotiatedRate rate;
  rate.width = Widest(Widths(a) & Widths(b));
  rate.speed = Fastest(Speeds(a) & Speeds(b));
  rate.speed_ext2 = Fastest(ExtendedSpeeds2(a) & ExtendedSpeeds2(b));
  if (rate.speed_ext2 == 0) {
    rate.speed_ext = Fastest(ExtendedSpeeds(a) & ExtendedSpeeds(b));
  }
  if ((rate.speed | rate.speed_ext | rate.speed_ext2) == 0) rate.width = 0;
  return rate;
}

void SetDownRate(mad::PortInfo& info) {
  info.link_width_active =
      (info.link_width_supported & width::k4x) != 0 ? width::k4x : width::k1x;
  info.link_speed_active = mad::link_speed::kSdr;
  info.link_speed_ext_active = 0;
  info.link_speed_ext_active2 = 0;
}

}  // namespace ibemu::fabric
