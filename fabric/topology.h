// A subnet as its description gives it: nodes, ports and cables, no state.
#ifndef IBEMU_FABRIC_TOPOLOGY_H_
#define IBEMU_FABRIC_TOPOLOGY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "mad/wire/node_info.h"
#include "mad/wire/types.h"

namespace ibemu::fabric {

// Index into Topology::nodes, and later into the fabric's arrays.
enum class NodeId : uint32_t {};

struct NodeSpec {
  mad::NodeType type = mad::NodeType::kChannelAdapter;
  std::string name;         // of the file: "H-0002c90300000001", "sw1"
  std::string description;  // NodeDescription: "node-1"
  mad::Guid node_guid{};
  mad::Guid system_image_guid{};  // zero: the node GUID
  uint32_t vendor_id = 0;         // 24 bits
  uint16_t device_id = 0;
  int port_count = 0;
  // GUIDs of ports 1..n of a CA or router; entry 0 of a switch (its port 0).
  std::vector<mad::Guid> port_guids;
  bool enhanced_port_0 = false;  // switches
  int line = 0;                  // in the file; 0: generated
};

// Width and speed as PortInfo codes them (LinkWidth*, LinkSpeed*, ...Ext,
// Ext2).
struct LinkRate {
  uint8_t width = 0;       // bit mask of LinkWidthSupported
  uint8_t speed = 0;       // LinkSpeedSupported
  uint8_t speed_ext = 0;   // LinkSpeedExtSupported
  uint8_t speed_ext2 = 0;  // LinkSpeedExtSupported2 (XDR)
};

struct LinkSpec {
  NodeId a{}, b{};
  uint8_t port_a = 0, port_b = 0;
  LinkRate rate;
};

struct Topology {
  std::vector<NodeSpec> nodes;
  std::vector<LinkSpec> links;
};

// SPEC of the command line: a file in ibnetdiscover/ibsim format, or a
// generator such as "fat-tree:radix=36,levels=2".
//
// Errors: InvalidArgument or NotFound; the message holds every fault of the
// file, one a line, as "lab.net:14: port 9 of "sw1" does not exist: ...".
absl::StatusOr<Topology> LoadTopology(std::string_view spec);

// The text that ibnetdiscover would print, nodes in order.
std::string FormatIbnetdiscover(const Topology& topology);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_TOPOLOGY_H_
