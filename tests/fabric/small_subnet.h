// A subnet of one switch and two hosts, for the agents of its nodes.
#ifndef IBEMU_TESTS_FABRIC_SMALL_SUBNET_H_
#define IBEMU_TESTS_FABRIC_SMALL_SUBNET_H_

#include <utility>
#include <vector>

#include "fabric/subnet/events.h"
#include "mad/wire/port_codes.h"
#include "topology/topology.h"

namespace ibemu::fabric {

inline constexpr topology::NodeId kHost{0}, kOtherHost{1}, kSwitch{2};

// node-1 (2 ports) and node-2 are on ports 1, 2 and 3 of the switch; its port 4
// is free.
inline topology::Topology SmallSubnet() {
  topology::Topology topology;
  topology.nodes.resize(3);
  topology::NodeSpec& host = topology.nodes[0];
  host.description = "node-1";
  host.node_guid = wire::Guid{0x10};
  host.vendor_id = 0x2c9;
  host.device_id = 0x1011;
  host.port_count = 2;
  topology::NodeSpec& other = topology.nodes[1];
  other.description = "node-2";
  other.node_guid = wire::Guid{0x20};
  other.vendor_id = 0x1175;
  other.port_count = 1;
  topology::NodeSpec& sw = topology.nodes[2];
  sw.type = mad::NodeType::kSwitch;
  sw.description = "sw";
  sw.node_guid = wire::Guid{0x30};
  sw.vendor_id = 0x2c9;
  sw.port_count = 4;
  topology::LinkRate edr;
  edr.width = mad::link_width::k1x | mad::link_width::k4x;
  edr.speed =
      mad::link_speed::kSdr | mad::link_speed::kDdr | mad::link_speed::kQdr;
  edr.speed_ext = mad::link_speed_ext::kFdr | mad::link_speed_ext::kEdr;
  topology.links = {
      {.a = kHost, .b = kSwitch, .port_a = 1, .port_b = 1, .rate = edr},
      {.a = kHost, .b = kSwitch, .port_a = 2, .port_b = 2, .rate = edr},
      {.a = kOtherHost, .b = kSwitch, .port_a = 1, .port_b = 3, .rate = edr},
  };
  return topology;
}

class RecordedEvents : public FabricEvents {
 public:
  void OnPortChange(PortId port) override { changes.push_back(port); }
  void OnClientReregister(PortId port) override { reregisters.push_back(port); }
  void OnLinkStateChange(topology::NodeId node) override {
    link_changes.push_back(node);
  }

  std::vector<PortId> changes;
  std::vector<PortId> reregisters;
  std::vector<topology::NodeId> link_changes;
};

class RecordedMads : public MadSender {
 public:
  void SendMad(PortId from, const mad::Outgoing& packet) override {
    sent.emplace_back(from, packet);
  }

  std::vector<std::pair<PortId, mad::Outgoing>> sent;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_TESTS_FABRIC_SMALL_SUBNET_H_
