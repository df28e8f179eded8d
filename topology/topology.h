// A subnet as its description gives it: nodes, ports and cables, no state.
// The text formats and the generators: ibemu-topology(5).
#ifndef IBEMU_TOPOLOGY_TOPOLOGY_H_
#define IBEMU_TOPOLOGY_TOPOLOGY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "mad/device.h"
#include "mad/wire/node_info.h"
#include "topology/device_limits.h"
#include "wire/ip_address.h"
#include "wire/types.h"

namespace ibemu::topology {

// Index into Topology::nodes, and later into the fabric's arrays.
enum class NodeId : uint32_t {};

inline constexpr int kMaxPorts = 254;  // IBA vol 1 §14.2.5.3; 255 is no port

inline constexpr size_t kMaxDescription = 64;  // bytes, IBA vol 1 §14.2.5.2

// A NodeSpec is a node as its description gives it.
struct NodeSpec {
  mad::NodeType type = mad::NodeType::kChannelAdapter;
  std::string name;         // of the file: "H-0002c90300000001", "sw1"
  std::string description;  // NodeDescription: "node-1"
  wire::Guid node_guid{};
  wire::Guid system_image_guid{};  // zero: the node GUID
  uint32_t vendor_id = 0;          // 24 bits
  uint16_t device_id = 0;
  int port_count = 0;
  // GUIDs of ports 1..n of a CA or router; entry 0 of a switch (its port 0).
  absl::InlinedVector<wire::Guid, 2> port_guids;
  bool enhanced_port_0 = false;                   // switches
  std::shared_ptr<const mad::DeviceLabel> label;  // null: all empty
  std::shared_ptr<const DeviceLimits> limits;     // null: the usual ones
  int line = 0;                                   // in the file; 0: generated
};

// Masks as in PortInfo: every width and speed that both ends support; the
// link trains to the best of them.  "4xEDR" stands for that and for what
// hardware of its kind also does: 1x, and every slower speed.
struct LinkRate {
  uint8_t width = 0;       // LinkWidthSupported
  uint8_t speed = 0;       // LinkSpeedSupported
  uint8_t speed_ext = 0;   // LinkSpeedExtSupported
  uint8_t speed_ext2 = 0;  // LinkSpeedExtSupported2 (XDR)
  bool fdr10 = false;      // Mellanox's ExtendedPortInfo

  bool operator==(const LinkRate&) const = default;
};

// A LinkSpec is a cable between port `port_a` of node `a` and `port_b` of `b`.
struct LinkSpec {
  NodeId a{}, b{};
  uint8_t port_a = 0, port_b = 0;
  LinkRate rate;
  uint16_t length = 0;  // metres; 0: unknown.  Kept for who exports it.
  bool down = false;    // cut from the start
};

// The IP addresses of a port of a channel adapter, at least one.
struct PortAddresses {
  NodeId node{};
  uint8_t port = 0;
  std::vector<wire::IpNetwork> networks;
};

// Complete and free of contradictions, whoever made it: GUIDs are unique,
// ports exist, no port has two cables, and no two ports have an address.
struct Topology {
  std::vector<NodeSpec> nodes;
  std::vector<LinkSpec> links;
  // Of ports that were given some, in the order of nodes and ports.
  std::vector<PortAddresses> addresses = {};

  const NodeSpec& node(NodeId id) const {
    return nodes[static_cast<size_t>(id)];
  }
};

// Hears, a few hundred times in all, how far a long load has come:
// ("reading lab.net", 4096, 8123456).  Units differ from phase to phase.
using Progress =
    absl::FunctionRef<void(std::string_view phase, size_t done, size_t total)>;
inline void NoProgress(std::string_view, size_t, size_t) {}

// The same subnet in the one order and with the one naming that its GUIDs
// give it: two texts describe the same subnet if and only if the normal forms
// of what they parse to print the same.
Topology NormalizeTopology(Topology topology);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_TOPOLOGY_H_
