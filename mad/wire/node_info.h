// NodeDescription and NodeInfo: IBA vol 1 §14.2.5.2 and §14.2.5.3.
#ifndef IBEMU_MAD_WIRE_NODE_INFO_H_
#define IBEMU_MAD_WIRE_NODE_INFO_H_

#include "mad/wire/attribute_id.h"
#include "wire/layout.h"
#include "wire/types.h"

namespace ibemu::mad {

// The type of a node.
enum class NodeType : uint8_t {
  kChannelAdapter = 1,
  kSwitch = 2,
  kRouter = 3,
};

// The name of a node, for people.
struct NodeDescription {
  static constexpr AttributeId kId = AttributeId::kNodeDescription;
  static constexpr int kBits = 512;

  std::array<char, 64> text{};  // UTF-8, padded with zeros

  bool operator==(const NodeDescription&) const = default;

  static constexpr auto Layout() {
    return wire::Table(wire::Rw(&NodeDescription::text, "NodeString", 512, 0));
  }
};
static_assert(wire::Tiles<NodeDescription>());

// The identity of a node, and of the port that was asked.
struct NodeInfo {
  static constexpr AttributeId kId = AttributeId::kNodeInfo;
  static constexpr int kBits = 320;

  uint8_t base_version = 1, class_version = 1;
  NodeType node_type = NodeType::kChannelAdapter;
  uint8_t num_ports = 0;  // physical ones
  wire::Guid system_image_guid{}, node_guid{}, port_guid{};
  uint16_t partition_cap = 0;  // P_Keys that the CA or switch port 0 can hold
  uint16_t device_id = 0;
  uint32_t revision = 0;
  uint8_t local_port_num = 0;  // the port that received the SMP
  uint32_t vendor_id = 0;      // IEEE OUI

  bool operator==(const NodeInfo&) const = default;

  static constexpr auto Layout() {
    using T = NodeInfo;
    using wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::base_version, "BaseVersion", 8, 0),
        Ro(&T::class_version, "ClassVersion", 8, 8),
        Ro(&T::node_type, "NodeType", 8, 16),
        Ro(&T::num_ports, "NumPorts", 8, 24),
        Ro(&T::system_image_guid, "SystemImageGUID", 64, 32),
        Ro(&T::node_guid, "NodeGUID", 64, 96),
        Ro(&T::port_guid, "PortGUID", 64, 160),
        Ro(&T::partition_cap, "PartitionCap", 16, 224),
        Ro(&T::device_id, "DeviceID", 16, 240),
        Ro(&T::revision, "Revision", 32, 256),
        Ro(&T::local_port_num, "LocalPortNum", 8, 288),
        Ro(&T::vendor_id, "VendorID", 24, 296));
  }
};
static_assert(wire::Tiles<NodeInfo>());

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_NODE_INFO_H_
