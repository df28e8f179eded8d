// Records that wrap subnet management attributes: IBA vol 1 §15.2.5.
#ifndef IBEMU_MAD_WIRE_SA_RECORDS_H_
#define IBEMU_MAD_WIRE_SA_RECORDS_H_

#include <array>

#include "mad/wire/forwarding_tables.h"
#include "mad/wire/node_info.h"
#include "mad/wire/port_info.h"
#include "mad/wire/sm_info.h"
#include "mad/wire/subnet_tables.h"
#include "mad/wire/switch_info.h"
#include "wire/layout.h"

namespace ibemu::mad {

// A node, by the LID of one of its ports.
struct NodeRecord {
  static constexpr AttributeId kId = AttributeId::kNodeRecord;
  static constexpr int kBits = 864;

  wire::Lid lid{};
  NodeInfo node_info{};
  NodeDescription node_description{};

  bool operator==(const NodeRecord&) const = default;

  static constexpr auto Layout() {
    using T = NodeRecord;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::lid, "LID", 16, 0), Reserved(16, 16),
        Ro(&T::node_info, "NodeInfo", 320, 32),
        Ro(&T::node_description, "NodeDescription", 512, 352));
  }
};
static_assert(wire::Tiles<NodeRecord>());

// A port of a node.  All ports of a switch have the LID of its port 0.
struct PortInfoRecord {
  static constexpr AttributeId kId = AttributeId::kPortInfoRecord;
  static constexpr int kBits = 544;

  wire::Lid lid{};
  uint8_t port_num = 0;
  uint8_t options = 0;
  PortInfo port_info{};

  bool operator==(const PortInfoRecord&) const = default;

  static constexpr auto Layout() {
    using T = PortInfoRecord;
    using wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::lid, "EndPortLID", 16, 0), Ro(&T::port_num, "PortNum", 8, 16),
        Ro(&T::options, "Options", 8, 24),
        Ro(&T::port_info, "PortInfo", 512, 32));
  }
};
static_assert(wire::Tiles<PortInfoRecord>());

// The SLtoVLMappingTable of a port, of a switch for one pair of its ports.
struct SlToVlMappingTableRecord {
  static constexpr AttributeId kId = AttributeId::kSlToVlMappingTableRecord;
  static constexpr int kBits = 128;

  wire::Lid lid{};
  uint8_t input_port_num = 0;
  uint8_t output_port_num = 0;
  SlToVlMappingTable table{};

  bool operator==(const SlToVlMappingTableRecord&) const = default;

  static constexpr auto Layout() {
    using T = SlToVlMappingTableRecord;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::lid, "LID", 16, 0),
        Ro(&T::input_port_num, "InputPortNum", 8, 16),
        Ro(&T::output_port_num, "OutputPortNum", 8, 24), Reserved(32, 32),
        Ro(&T::table, "SLtoVLMappingTable", 64, 64));
  }
};
static_assert(wire::Tiles<SlToVlMappingTableRecord>());

// The SwitchInfo of a switch.
struct SwitchInfoRecord {
  static constexpr AttributeId kId = AttributeId::kSwitchInfoRecord;
  static constexpr int kBits = 192;

  wire::Lid lid{};
  SwitchInfo switch_info{};

  bool operator==(const SwitchInfoRecord&) const = default;

  static constexpr auto Layout() {
    using T = SwitchInfoRecord;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::lid, "LID", 16, 0), Reserved(16, 16),
        Ro(&T::switch_info, "SwitchInfo", 160, 32));
  }
};
static_assert(wire::Tiles<SwitchInfoRecord>());

// A block of a switch's table for unicast: 64 LIDs.
struct LinearForwardingTableRecord {
  static constexpr AttributeId kId = AttributeId::kLinearForwardingTableRecord;
  static constexpr int kBits = 576;

  wire::Lid lid{};
  uint16_t block_num = 0;
  LinearForwardingTable table{};

  bool operator==(const LinearForwardingTableRecord&) const = default;

  static constexpr auto Layout() {
    using T = LinearForwardingTableRecord;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::lid, "LID", 16, 0), Ro(&T::block_num, "BlockNum", 16, 16),
        Reserved(32, 32), Ro(&T::table, "LinearForwardingTable", 512, 64));
  }
};
static_assert(wire::Tiles<LinearForwardingTableRecord>());

// A block of a switch's table for multicast: 32 LIDs, and 16 ports by
// `position`.
struct MulticastForwardingTableRecord {
  static constexpr AttributeId kId =
      AttributeId::kMulticastForwardingTableRecord;
  static constexpr int kBits = 576;

  wire::Lid lid{};
  uint8_t position = 0;
  uint16_t block_num = 0;
  MulticastForwardingTable table{};

  bool operator==(const MulticastForwardingTableRecord&) const = default;

  static constexpr auto Layout() {
    using T = MulticastForwardingTableRecord;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::lid, "LID", 16, 0), Ro(&T::position, "Position", 4, 16),
        Reserved(3, 20), Ro(&T::block_num, "BlockNum", 9, 23), Reserved(32, 32),
        Ro(&T::table, "MulticastForwardingTable", 512, 64));
  }
};
static_assert(wire::Tiles<MulticastForwardingTableRecord>());

// A subnet manager, by the LID of its port.
struct SmInfoRecord {
  static constexpr AttributeId kId = AttributeId::kSmInfoRecord;
  static constexpr int kBits = 200;

  wire::Lid lid{};
  SmInfo sm_info{};

  bool operator==(const SmInfoRecord&) const = default;

  static constexpr auto Layout() {
    using T = SmInfoRecord;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::lid, "LID", 16, 0), Reserved(16, 16),
        Ro(&T::sm_info, "SMInfo", 168, 32));
  }
};
static_assert(wire::Tiles<SmInfoRecord>());

// A link as seen from one end, so that each link has two records.  It wraps no
// attribute of subnet management.
struct LinkRecord {
  static constexpr AttributeId kId = AttributeId::kLinkRecord;
  static constexpr int kBits = 48;

  wire::Lid from_lid{};
  uint8_t from_port = 0;
  uint8_t to_port = 0;
  wire::Lid to_lid{};

  bool operator==(const LinkRecord&) const = default;

  static constexpr auto Layout() {
    using T = LinkRecord;
    using wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::from_lid, "FromLID", 16, 0),
        Ro(&T::from_port, "FromPort", 8, 16), Ro(&T::to_port, "ToPort", 8, 24),
        Ro(&T::to_lid, "ToLID", 16, 32));
  }
};
static_assert(wire::Tiles<LinkRecord>());

// A block of a port's GUIDs.  By a Set a host asks for alias GUIDs.
struct GuidInfoRecord {
  static constexpr AttributeId kId = AttributeId::kGuidInfoRecord;
  static constexpr int kBits = 576;

  wire::Lid lid{};
  uint8_t block_num = 0;
  GuidInfo guid_info{};

  bool operator==(const GuidInfoRecord&) const = default;

  static constexpr auto Layout() {
    using T = GuidInfoRecord;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::lid, "LID", 16, 0), Rw(&T::block_num, "BlockNum", 8, 16),
        Reserved(8, 24), Reserved(32, 32),
        Rw(&T::guid_info, "GUIDInfo", 512, 64));
  }
};
static_assert(wire::Tiles<GuidInfoRecord>());

// A block of a port's P_Keys.
struct PKeyTableRecord {
  static constexpr AttributeId kId = AttributeId::kPKeyTableRecord;
  static constexpr int kBits = 576;

  wire::Lid lid{};
  uint16_t block_num = 0;
  uint8_t port_num = 0;
  PKeyTable table{};

  bool operator==(const PKeyTableRecord&) const = default;

  static constexpr auto Layout() {
    using T = PKeyTableRecord;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::lid, "LID", 16, 0), Ro(&T::block_num, "BlockNum", 16, 16),
        Ro(&T::port_num, "PortNum", 8, 32), Reserved(24, 40),
        Ro(&T::table, "P_KeyTable", 512, 64));
  }
};
static_assert(wire::Tiles<PKeyTableRecord>());

// Half of one of a port's tables of VL arbitration; `block_num` (1 to 4) says
// which, as VlArbitrationTable's modifier does.
struct VlArbitrationTableRecord {
  static constexpr AttributeId kId = AttributeId::kVlArbitrationTableRecord;
  static constexpr int kBits = 576;

  wire::Lid lid{};
  uint8_t output_port_num = 0;
  uint8_t block_num = 0;
  VlArbitrationTable table{};

  bool operator==(const VlArbitrationTableRecord&) const = default;

  static constexpr auto Layout() {
    using T = VlArbitrationTableRecord;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::lid, "LID", 16, 0),
        Ro(&T::output_port_num, "OutputPortNum", 8, 16),
        Ro(&T::block_num, "BlockNum", 8, 24), Reserved(32, 32),
        Ro(&T::table, "VLArbitrationTable", 512, 64));
  }
};
static_assert(wire::Tiles<VlArbitrationTableRecord>());

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_SA_RECORDS_H_
