// The texts of a subnet's values that methods, events and tables share: ports
// as people write them, NODE/PORT, their states and rates, GUIDs, node types.
#ifndef IBEMU_DAEMON_WORDS_PORT_TEXT_H_
#define IBEMU_DAEMON_WORDS_PORT_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "mad/wire/node_info.h"
#include "mad/wire/port_info.h"

namespace ibemu::daemon {

// A PortText is what NODE/PORT says; neither need exist.
struct PortText {
  std::string node;
  int port = 0;
};

// The last slash counts: a node's description may have one too.
//
// Errors: InvalidArgument.
absl::StatusOr<PortText> ParsePort(std::string_view text);

// The word for a state in "ibemu links" and in events: init, armed, active or
// down.
std::string_view PortStateText(mad::PortState state);
// "polling", "linkup"; "-" where there is none.
std::string_view PhysicalStateText(mad::PortPhysicalState state);
// Returns the width and speed that the link has come up with: "4xHDR".
std::string RateText(const mad::PortInfo& info);

// "0x0002c90300000001"
std::string GuidText(wire::Guid guid);

// "ca", "switch" or "router"
std::string_view NodeTypeText(mad::NodeType type);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WORDS_PORT_TEXT_H_
