// How generators put a topology together.
#ifndef IBEMU_TOPOLOGY_TOPOLOGY_BUILDER_H_
#define IBEMU_TOPOLOGY_TOPOLOGY_BUILDER_H_

#include <cstdint>
#include <string>

#include "topology/topology.h"

namespace ibemu::topology {

// GUIDs of generated nodes: 02-1b-e0 is a locally administered OUI ("1be",
// as close to "ibe" as hexadecimal gets), then a byte that tells hosts (01)
// from switches (02), then the node's number from 1 on, then the port.
inline constexpr uint32_t kGeneratedVendorId = 0x021be0;
inline constexpr uint64_t kHostGuids = 0x021be001'00000000;
inline constexpr uint64_t kSwitchGuids = 0x021be002'00000000;
inline constexpr uint16_t kGeneratedHostDeviceId = 1;
inline constexpr uint16_t kGeneratedSwitchDeviceId = 2;

// "H-021be00100000100": what ibnetdiscover calls a node.
std::string CanonicalName(mad::NodeType type, wire::Guid node_guid);

class TopologyBuilder {
 public:
  TopologyBuilder(const LinkRate& rate, size_t nodes, size_t links,
                  Progress progress);

  // One-port adapters "node-1", "node-2" ...: the first call's have the ids 0
  // to count - 1.
  void AddHosts(int64_t count);

  NodeId AddSwitch(std::string description, int ports);

  void Connect(NodeId a, int port_a, NodeId b, int port_b);

  Topology Take() { return std::move(topology_); }

 private:
  void Tell();

  Topology topology_;
  LinkRate rate_;
  size_t total_, hosts_ = 0, switches_ = 0;
  Progress progress_;
};

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_TOPOLOGY_BUILDER_H_
