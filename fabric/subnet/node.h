// Nodes and ports as the fabric keeps them: plain state in flat arrays, the
// behaviour is in links.h, forwarder.h, sma.h and pma.h.
#ifndef IBEMU_FABRIC_SUBNET_NODE_H_
#define IBEMU_FABRIC_SUBNET_NODE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "fabric/subnet/linear_table.h"
#include "fabric/subnet/multicast_table.h"
#include "fabric/subnet/port_counters.h"
#include "mad/wire/node_info.h"
#include "mad/wire/port_info.h"
#include "mad/wire/subnet_tables.h"
#include "mad/wire/switch_info.h"
#include "topology/topology.h"

namespace ibemu::fabric {

// Index into the fabric's array of ports; see Subnet::port_id().
enum class PortId : uint32_t {};
inline constexpr PortId kNoPort{0xffffffff};

// Sizes of the tables that the fabric's ports have.  Those of P_Keys are common
// ones of real adapters and switches; SMs read them whole, from each port.
inline constexpr int kPKeyTableEntries = 128;
inline constexpr int kSwitchPKeyTableEntries = 32;
inline constexpr int kGuidTableEntries = 32;
inline constexpr uint16_t kDefaultPKey = 0xffff;

// SLtoVLMappingTable, IBA vol 1 §14.2.5.8: the VL of each SL.
using SlToVlTable = std::array<uint8_t, 16>;

// A quarter of VLArbitrationTable, §14.2.5.9, as on the wire: (VL, weight)
// pairs.
using VlArbitrationBlock = std::array<uint8_t, 64>;

// The tables of a port that differ from the defaults; made on the first Set.
struct PortTables {
  std::vector<uint16_t> p_keys;  // the whole table, or empty: the default
  std::vector<uint64_t> guids;   // the whole table, or empty; entry 0 unused
  // By ingress port (a CA has entry 0 only), or empty: SlToVlDefault().
  std::vector<SlToVlTable> sl_to_vl;
  // Lower and upper half of the low-priority table, then of the high one.
  std::array<std::unique_ptr<VlArbitrationBlock>, 4> vl_arbitration;

  bool led_on = false;  // LedInfo

  // When the M_Key lease runs out; InfiniteFuture: it does not run.
  absl::Time m_key_lease_end = absl::InfiniteFuture();
};

// The lane of an SL when nobody has set the table: SL modulo the number of
// operational VLs.
uint8_t SlToVlDefault(uint8_t sl, uint8_t operational_vls);

// The state that an agent has for one port beside the port's own attributes.
// The port owns it; only the agent knows its type (PmaPort, in
// fabric/agents/pma_port.h).
struct AgentPortState {
  virtual ~AgentPortState() = default;
};

// A NodePort is one port of a node: its cable, its PortInfo, its tables and its
// counters.  Tables and counters that nobody has touched take no memory.
struct NodePort {
  // First what each hop of a packet reads.
  topology::NodeId node{};
  PortId peer = kNoPort;    // the other end of the cable, plugged or not
  uint8_t number = 0;       // 0 is a switch's management port
  bool cable_up = true;     // false: cut by `ibemu link`
  uint16_t link_epoch = 0;  // grows when the link goes down
  bool faulty = false;      // faults on the way out: see Forwarder::AddFault
  // A subnet manager gave this end of a link its usual VL arbitration.
  bool has_usual_weights = false;
  TrafficCounters traffic;

  mad::PortInfo info;
  wire::Guid guid{};  // a switch: the same on all its ports

  std::unique_ptr<PortTables> tables;     // null: defaults
  std::unique_ptr<EventCounters> events;  // null: all zero
  std::unique_ptr<LaneCounters> lanes;
  std::unique_ptr<AgentPortState> pma;

  EventCounters& Events() {
    if (!events) events = std::make_unique<EventCounters>();
    return *events;
  }
  PortTables& Tables() {
    if (!tables) tables = std::make_unique<PortTables>();
    return *tables;
  }

  // Entries of the tables; zero beyond their ends.
  uint16_t PKeyAt(int index) const;
  // The entry that lets a packet with `p_key` in: the same partition, and one
  // of both a full member (IBA vol 1 §10.9.3).  -1: there is none.
  int FindPKey(uint16_t p_key) const;
  // Returns true if who is beyond this port of a switch may send with `p_key`.
  bool AdmitsFromPeer(uint16_t p_key) const;
  uint64_t GuidAt(int index) const;  // 0: the port's own
  // Quarter `block` (0 to 3, as in PortTables) of VLArbitrationTable.
  mad::VlArbitrationTable VlArbitration(unsigned block) const;
  void SetPKey(int index, uint16_t p_key);
  void SetGuid(int index, uint64_t guid);

  // The lane of a packet that leaves here.  `ingress`: the input port of the
  // switch, 0 on a CA.
  uint8_t VlOf(uint8_t sl, int ingress) const {
    if (tables && !tables->sl_to_vl.empty()) {
      return tables->sl_to_vl[static_cast<size_t>(ingress)][sl & 15];
    }
    return SlToVlDefault(sl, info.operational_vls);
  }

  bool IsUp() const { return info.port_state != mad::PortState::kDown; }
  bool IsActive() const { return info.port_state == mad::PortState::kActive; }

  // True for the port's LID and the path bits that LMC adds to it.
  bool Owns(wire::Lid lid) const {
    return info.lid != wire::Lid::kUnassigned &&
           (static_cast<unsigned>(lid) >> info.lmc) ==
               (static_cast<unsigned>(info.lid) >> info.lmc);
  }
};

// The attributes and tables of a switch.
struct SwitchState {
  mad::SwitchInfo info;
  LinearTable linear;
  MulticastTable multicast;
};

// A Node is a switch, a channel adapter or a router.  Its ports follow one
// another in the fabric's array.
struct Node {
  mad::NodeType type = mad::NodeType::kChannelAdapter;
  bool on = true;       // false: switched off by `ibemu node`
  bool plugged = true;  // false: pulled out by `ibemu device`
  bool up = true;       // takes part: both of them
  bool remote = false;  // its adapter is elsewhere: Endpoints::SetRemote()
  // It stands for all that is beyond its links, so packets for any LID are for
  // it: Fabric::SetBeyond().  REQUIRES: remote
  bool is_beyond = false;
  uint8_t port_count = 0;  // external ports
  uint16_t device_id = 0;
  uint32_t vendor_id = 0;
  uint32_t revision = 0;
  wire::Guid node_guid{};
  wire::Guid system_image_guid{};
  // The id of port n is first_port + n.  A CA has no port 0: its first_port
  // belongs to another node (modulo 2^32).
  PortId first_port{};
  std::unique_ptr<SwitchState> sw;  // null unless a switch
  std::string description;          // at most 64 bytes
  // That of the topology, once programs have changed it; else null.
  std::unique_ptr<std::string> first_description;
  std::string name;                               // of the topology file
  std::shared_ptr<const mad::DeviceLabel> label;  // null: all empty
  // null: the usual ones
  std::shared_ptr<const topology::DeviceLimits> limits;

  // Changes the description, of which 64 bytes are kept.  By that of the
  // topology the node is found as before: Fabric::Find().
  void Describe(std::string_view text);

  bool is_switch() const { return sw != nullptr; }
  // Returns the size of each port's P_Key table.
  int p_key_entries() const {
    return is_switch() ? kSwitchPKeyTableEntries : kPKeyTableEntries;
  }
  // Where the port numbers begin and end: 0..n of a switch, 1..n of others.
  int first_number() const { return is_switch() ? 0 : 1; }
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SUBNET_NODE_H_
