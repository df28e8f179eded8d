// Subnet: all nodes and ports of a fabric.  It is only state: links.h (link
// states), sma.h and forwarder.h say who may change it, and what follows from a
// change.
#ifndef IBEMU_FABRIC_SUBNET_SUBNET_H_
#define IBEMU_FABRIC_SUBNET_SUBNET_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "fabric/subnet/node.h"
#include "topology/topology.h"

namespace ibemu::fabric {

// The arrays of nodes and ports, with their indices.
class Subnet {
 public:
  // Makes every port as after power-on, with all links down: Links brings them
  // up.
  explicit Subnet(const topology::Topology& topology);

  std::span<Node> nodes() { return nodes_; }
  std::span<const Node> nodes() const { return nodes_; }
  std::span<NodePort> ports() { return ports_; }
  std::span<const NodePort> ports() const { return ports_; }

  Node& node(topology::NodeId id) { return nodes_[static_cast<size_t>(id)]; }
  const Node& node(topology::NodeId id) const {
    return nodes_[static_cast<size_t>(id)];
  }
  NodePort& port(PortId id) { return ports_[static_cast<size_t>(id)]; }
  const NodePort& port(PortId id) const {
    return ports_[static_cast<size_t>(id)];
  }
  Node& NodeOf(PortId id) { return node(port(id).node); }
  const Node& NodeOf(PortId id) const { return node(port(id).node); }

  // REQUIRES: the node has this port.
  PortId port_id(const Node& node, int number) const {
    return PortId{static_cast<uint32_t>(node.first_port) +
                  static_cast<uint32_t>(number)};
  }
  PortId port_id(topology::NodeId id, int number) const {
    return port_id(node(id), number);
  }
  // Returns all ports of the node, including port 0 of a switch.
  std::span<NodePort> PortsOf(const Node& node) {
    return {&port(port_id(node, node.first_number())), PortTotal(node)};
  }
  std::span<const NodePort> PortsOf(const Node& node) const {
    return {&port(port_id(node, node.first_number())), PortTotal(node)};
  }
  PortId id_of(const NodePort& port) const {
    return PortId{static_cast<uint32_t>(&port - ports_.data())};
  }
  bool has_port(const Node& node, int number) const {
    return number >= node.first_number() && number <= node.port_count;
  }

  // Returns the port that has the LID and the other management state for
  // `port`: on a switch port 0, otherwise the port itself.
  PortId management_port(PortId port) const {
    const Node& owner = NodeOf(port);
    return owner.is_switch() ? owner.first_port : port;
  }

  // The IP addresses that the topology gave to ports.  They mean nothing here.
  const std::vector<topology::PortAddresses>& addresses() const {
    return addresses_;
  }

  // Resets a node to its state after power-on, except for cables and counters.
  void ResetNode(topology::NodeId id);

  // Returns "node-1 port 1", for messages and as the name of random streams.
  std::string PortName(PortId port) const;

 private:
  static size_t PortTotal(const Node& node) {
    return static_cast<size_t>(node.port_count) + (node.is_switch() ? 1 : 0);
  }
  void AddNode(const topology::NodeSpec& spec);
  // Gives ports without a cable the capabilities of the node's other ports.
  void EquipFreePorts(const Node& node);
  void Reset(Node& node);

  std::vector<Node> nodes_;
  std::vector<NodePort> ports_;
  const std::vector<topology::PortAddresses> addresses_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SUBNET_SUBNET_H_
