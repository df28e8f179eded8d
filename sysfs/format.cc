#include "sysfs/format.h"

#include <array>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace ibemu::sysfs {
namespace {

struct Speed {
  std::string_view name;
  int lane;  // of one lane, in units of 100 Mb/s
};

Speed ActiveSpeed(const mad::PortInfo& info, bool fdr10) {
  if (info.link_speed_ext_active2 == 1) return {"XDR", 2000};
  switch (info.link_speed_ext_active) {
    case 1:
      return {"FDR", 140};
    case 2:
      return {"EDR", 250};
    case 4:
      return {"HDR", 500};
    case 8:
      return {"NDR", 1000};
    default:
      break;
  }
  switch (info.link_speed_active) {
    case 2:
      return {"DDR", 50};
    case 4:
      return {fdr10 ? "FDR10" : "QDR", 100};
    default:
      return {"SDR", 25};
  }
}

int Lanes(int width) {
  switch (width) {
    case 1:
      return 1;
    case 2:
      return 4;
    case 4:
      return 8;
    case 8:
      return 12;
    case 16:
      return 2;
    default:
      return 0;
  }
}

std::string Quads(uint64_t value) {
  return absl::StrFormat("%04x:%04x:%04x:%04x", value >> 48 & 0xffff,
                         value >> 32 & 0xffff, value >> 16 & 0xffff,
                         value & 0xffff);
}

}  // namespace

std::string FormatGuid(wire::Guid guid) {
  return Quads(static_cast<uint64_t>(guid));
}

std::string FormatGid(const wire::Gid& gid) {
  return absl::StrCat(Quads(gid.prefix), ":", Quads(gid.interface_id));
}

std::string FormatState(int state) {
  constexpr std::array<std::string_view, 6> kNames = {
      "NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
  const bool known = state >= 0 && state < static_cast<int>(kNames.size());
  return absl::StrFormat("%d: %s", state, known ? kNames[state] : "UNKNOWN");
}

std::string FormatPhysicalState(int state) {
  constexpr std::array<std::string_view, 8> kNames = {
      "<unknown>",
      "Sleep",
      "Polling",
      "Disabled",
      "PortConfigurationTraining",
      "LinkUp",
      "LinkErrorRecovery",
      "Phy Test"};
  const bool known = state > 0 && state < static_cast<int>(kNames.size());
  return absl::StrFormat("%d: %s", state, kNames[known ? state : 0]);
}

absl::StatusOr<std::string> FormatRate(const mad::PortInfo& info, bool fdr10) {
  const int lanes = Lanes(info.link_width_active);
  if (lanes == 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "LinkWidthActive %d is not one width", info.link_width_active));
  }
  const Speed speed = ActiveSpeed(info, fdr10);
  const int rate = speed.lane * lanes;
  return absl::StrFormat("%d%s Gb/sec (%dX %s)", rate / 10,
                         rate % 10 != 0 ? ".5" : "", lanes, speed.name);
}

}  // namespace ibemu::sysfs
