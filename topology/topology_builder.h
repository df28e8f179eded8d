// TopologyBuilder: the means by which generators build a topology.
#ifndef IBEMU_TOPOLOGY_TOPOLOGY_BUILDER_H_
#define IBEMU_TOPOLOGY_TOPOLOGY_BUILDER_H_

#include <cstdint>
#include <string>

#include "topology/topology.h"

namespace ibemu::topology {

// The GUIDs of generated nodes: 02-1b-e0 is a locally administered OUI ("1be",
// as close to "ibe" as hexadecimal gets), then comes a byte that tells hosts
// (01) from switches (02), then the node's number from 1 on, then the port.
inline constexpr uint32_t kGeneratedVendorId = 0x021be0;
inline constexpr uint64_t kHostGuids = 0x021be001'00000000;
inline constexpr uint64_t kSwitchGuids = 0x021be002'00000000;
inline constexpr uint16_t kGeneratedHostDeviceId = 1;
inline constexpr uint16_t kGeneratedSwitchDeviceId = 2;

// Returns the name that ibnetdiscover gives a node, such as
// "H-021be00100000100".
std::string CanonicalName(mad::NodeType type, wire::Guid node_guid);

// A topology under construction.  `nodes` and `links` are its final sizes.
class TopologyBuilder {
 public:
  TopologyBuilder(const LinkRate& rate, size_t nodes, size_t links,
                  Progress progress);

  // Adds adapters with one port, "node-1", "node-2" ...  Those of the first
  // call have the ids 0 to count - 1.
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
