#include "daemon/words/port_text.h"

#include <cstddef>
#include <iterator>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "topology/rate_text.h"

namespace ibemu::daemon {

absl::StatusOr<PortText> ParsePort(std::string_view text) {
  const size_t slash = text.rfind('/');
  PortText port;
  if (slash == std::string_view::npos ||
      !absl::SimpleAtoi(Absl(text.substr(slash + 1)), &port.port)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "\"%s\" names no port: write NODE/PORT, as in sw1/3", text));
  }
  port.node = text.substr(0, slash);
  return port;
}

std::string_view PortStateText(mad::PortState state) {
  switch (state) {
    case mad::PortState::kInit:
      return "init";
    case mad::PortState::kArmed:
      return "armed";
    case mad::PortState::kActive:
      return "active";
    case mad::PortState::kNoChange:
    case mad::PortState::kDown:
      return "down";
  }
  return "unknown";
}

std::string_view PhysicalStateText(mad::PortPhysicalState state) {
  constexpr std::string_view kNames[] = {
      "-",        "sleep",  "polling",        "disabled",
      "training", "linkup", "error recovery", "phy test"};
  const auto number = static_cast<size_t>(state);
  return number < std::size(kNames) ? kNames[number] : "unknown";
}

std::string RateText(const mad::PortInfo& info) {
  return topology::LinkRateName({.width = info.link_width_active,
                                 .speed = info.link_speed_active,
                                 .speed_ext = info.link_speed_ext_active,
                                 .speed_ext2 = info.link_speed_ext_active2});
}

std::string GuidText(wire::Guid guid) {
  return absl::StrFormat("0x%016x", static_cast<uint64_t>(guid));
}

std::string_view NodeTypeText(mad::NodeType type) {
  switch (type) {
    case mad::NodeType::kChannelAdapter:
      return "ca";
    case mad::NodeType::kSwitch:
      return "switch";
    case mad::NodeType::kRouter:
      return "router";
  }
  return "unknown";
}

}  // namespace ibemu::daemon
