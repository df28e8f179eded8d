#include "topology/rate_text.h"

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "mad/wire/port_codes.h"

namespace ibemu::topology {
namespace {

namespace width = mad::link_width;

// The link widths, narrowest first.  `mask`: what a port of that width
// supports.
struct WidthName {
  std::string_view lanes;
  uint8_t code, mask;
};
constexpr WidthName kWidths[] = {
    {"1", width::k1x, width::k1x},
    {"2", width::k2x, width::k1x | width::k2x},
    {"4", width::k4x, width::k1x | width::k4x},
    {"8", width::k8x, width::k1x | width::k4x | width::k8x},
    {"12", width::k12x, width::k1x | width::k4x | width::k12x},
};

// The link speeds, slowest first: the bit of each speed, and the speeds of
// hardware that runs at it.  FDR and faster hardware of Mellanox also supports
// FDR10.
struct SpeedName {
  std::string_view name;
  LinkRate bit, supported;
};
constexpr SpeedName kSpeedNames[] = {
    {"SDR", {0, 1, 0, 0, false}, {0, 1, 0, 0, false}},
    {"DDR", {0, 2, 0, 0, false}, {0, 3, 0, 0, false}},
    {"QDR", {0, 4, 0, 0, false}, {0, 7, 0, 0, false}},
    {"FDR10", {0, 0, 0, 0, true}, {0, 7, 0, 0, true}},
    {"FDR", {0, 0, 1, 0, false}, {0, 7, 1, 0, true}},
    {"EDR", {0, 0, 2, 0, false}, {0, 7, 3, 0, true}},
    {"HDR", {0, 0, 4, 0, false}, {0, 7, 7, 0, true}},
    {"NDR", {0, 0, 8, 0, false}, {0, 7, 15, 0, true}},
    {"XDR", {0, 0, 0, 1, false}, {0, 7, 15, 1, true}},
};

bool Supports(const LinkRate& rate, const LinkRate& bit) {
  return (rate.speed & bit.speed) != 0 ||
         (rate.speed_ext & bit.speed_ext) != 0 ||
         (rate.speed_ext2 & bit.speed_ext2) != 0 || (rate.fdr10 && bit.fdr10);
}

const WidthName* BestWidth(const LinkRate& rate) {
  const WidthName* best = nullptr;
  for (const WidthName& name : kWidths) {
    if (rate.width & name.code) best = &name;
  }
  return best;
}

const SpeedName* BestSpeed(const LinkRate& rate) {
  const SpeedName* best = nullptr;
  for (const SpeedName& name : kSpeedNames) {
    if (Supports(rate, name.bit)) best = &name;
  }
  return best;
}

void SetSpeed(const LinkRate& from, LinkRate& to) {
  to.speed = from.speed;
  to.speed_ext = from.speed_ext;
  to.speed_ext2 = from.speed_ext2;
  to.fdr10 = from.fdr10;
}

}  // namespace

LinkRate DefaultLinkRate() { return {width::k1x | width::k4x, 7, 7, 0, true}; }

uint8_t ParseLinkWidth(std::string_view text) {
  if (absl::EndsWithIgnoreCase(Absl(text), "x")) text.remove_suffix(1);
  for (const WidthName& name : kWidths) {
    if (text == name.lanes) return name.mask;
  }
  return 0;
}

bool ParseLinkSpeed(std::string_view text, LinkRate& rate) {
  for (const SpeedName& name : kSpeedNames) {
    if (!absl::EqualsIgnoreCase(Absl(text), Absl(name.name))) continue;
    SetSpeed(name.supported, rate);
    return true;
  }
  return false;
}

std::optional<LinkRate> ParseLinkRate(std::string_view text) {
  const size_t x = text.find_first_of("xX");
  if (x == std::string_view::npos) return std::nullopt;
  LinkRate rate;
  rate.width = ParseLinkWidth(text.substr(0, x));
  if (rate.width == 0 || !ParseLinkSpeed(text.substr(x + 1), rate)) {
    return std::nullopt;
  }
  return rate;
}

std::string LinkRateName(const LinkRate& rate) {
  const WidthName* width = BestWidth(rate);
  const SpeedName* speed = BestSpeed(rate);
  return absl::StrFormat("%s%s%s", width ? width->lanes : "?",
                         width ? "x" : "?", speed ? speed->name : "???");
}

std::optional<LinkRate> CommonLinkRate(const LinkRate& a, const LinkRate& b) {
  LinkRate common;
  common.width = a.width & b.width;
  common.speed = a.speed & b.speed;
  common.speed_ext = a.speed_ext & b.speed_ext;
  common.speed_ext2 = a.speed_ext2 & b.speed_ext2;
  common.fdr10 = a.fdr10 && b.fdr10;
  if (BestWidth(common) == nullptr || BestSpeed(common) == nullptr) {
    return std::nullopt;
  }
  return common;
}

}  // namespace ibemu::topology
