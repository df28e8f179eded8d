// Fabrics of a few nodes, and the packets that tests send through them.
#ifndef IBEMU_TESTS_FABRIC_SMALL_FABRIC_H_
#define IBEMU_TESTS_FABRIC_SMALL_FABRIC_H_

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/subnet/links.h"
#include "fabric/subnet/subnet.h"
#include "mad/port.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/node_info.h"
#include "mad/wire/smp.h"
#include "testing/row_topology.h"
#include "testing/virtual_timers.h"
#include "topology/rate_text.h"

namespace ibemu::fabric {

using testing::Row;

class Inbox : public mad::PortListener {
 public:
  void OnReceive(const mad::Arrival& arrival) override {
    arrivals.push_back(arrival);
  }
  std::vector<mad::Arrival> arrivals;
};

// A directed-route SMP as an agent hands it to Transmit(): the hop pointer
// already moved.  `path`: the ports to leave through.
inline mad::Outgoing DirectedGet(mad::AttributeId attribute,
                                 std::initializer_list<int> path,
                                 uint32_t modifier = 0) {
  mad::Smp smp;
  smp.mgmt_class = mad::MgmtClass::kSubnetDirectedRoute;
  smp.method = mad::Method::kGet;
  smp.attr_id = attribute;
  smp.attr_mod = modifier;
  smp.tid = 0x1234;
  smp.hop_pointer = 1;
  smp.hop_count = static_cast<uint8_t>(path.size());
  smp.dr_slid = smp.dr_dlid = wire::Lid::kPermissive;
  size_t hop = 1;
  for (const int port : path) {
    smp.initial_path[hop++] = static_cast<uint8_t>(port);
  }
  mad::Outgoing packet;
  packet.to.dlid = wire::Lid::kPermissive;
  wire::Encode(smp, packet.mad);
  return packet;
}

// An SMP or GMP by LID.
inline mad::Outgoing LidGet(int qp, mad::MgmtClass mgmt_class, wire::Lid dlid,
                            mad::AttributeId attribute) {
  mad::MadHeader header;
  header.mgmt_class = mgmt_class;
  header.method = mad::Method::kGet;
  header.attr_id = attribute;
  header.tid = 0x5678;
  mad::Outgoing packet;
  packet.qp = qp;
  packet.to.dlid = dlid;
  packet.to.qpn = static_cast<uint32_t>(qp);
  packet.to.qkey = qp == 1 ? mad::kQp1QKey : 0;
  wire::Encode(header, packet.mad);
  return packet;
}

inline mad::MadHeader HeaderOf(const mad::Arrival& arrival) {
  return wire::Decode<mad::MadHeader>(arrival.mad);
}

// A row of switches, host 1 attached.  The switches' ports stay in INIT until
// Configure().
struct RowFabric {
  explicit RowFabric(int switches, uint64_t seed = 1)
      : fabric(Row(switches), timers, {.seed = seed}),
        host_1(topology::NodeId{0}),
        host_2(topology::NodeId{static_cast<uint32_t>(switches + 1)}) {
    fabric.device(host_1).port(1).SetListener(&inbox);
  }

  static topology::NodeId Switch(int number) {
    return topology::NodeId{static_cast<uint32_t>(number)};
  }
  NodePort& PortOf(topology::NodeId node, int number) {
    Subnet& subnet = fabric.subnet();
    return subnet.port(subnet.port_id(node, number));
  }
  mad::Port& Host1() { return fabric.device(host_1).port(1); }
  mad::Port& Host2() { return fabric.device(host_2).port(1); }

  // What an SM does: host 1 is LID 1, host 2 is LID 2, switch n is LID 10 + n.
  void Configure() {
    Subnet& subnet = fabric.subnet();
    PortOf(host_1, 1).info.lid = wire::Lid{1};
    PortOf(host_2, 1).info.lid = wire::Lid{2};
    const auto switches = static_cast<int>(host_2) - 1;
    for (int number = 1; number <= switches; ++number) {
      Node& node = subnet.node(Switch(number));
      PortOf(Switch(number), 0).info.lid = wire::Lid(10 + number);
      node.sw->info.linear_fdb_top = 63;
      node.sw->linear.Set(wire::Lid{1}, 1);
      node.sw->linear.Set(wire::Lid{2}, 2);
      for (int other = 1; other <= switches; ++other) {
        const int port = other == number ? 0 : other < number ? 1 : 2;
        node.sw->linear.Set(wire::Lid(10 + other), static_cast<uint8_t>(port));
      }
    }
    Activate();
  }

  void Activate() {
    Subnet& subnet = fabric.subnet();
    for (const NodePort& port : subnet.ports()) {
      if (!port.IsUp() || port.number == 0) continue;
      fabric.links().SetLogicalState(subnet.id_of(port),
                                     mad::PortState::kArmed);
      fabric.links().SetLogicalState(subnet.id_of(port),
                                     mad::PortState::kActive);
    }
    timers.RunPending();
  }

  // Host 1 sends; what came back since.
  std::vector<mad::Arrival> Send(const mad::Outgoing& packet) {
    inbox.arrivals.clear();
    EXPECT_TRUE(Host1().Transmit(packet).ok());
    EXPECT_TRUE(inbox.arrivals.empty()) << "delivered before it returned";
    timers.RunPending();
    return inbox.arrivals;
  }

  testing::VirtualTimers timers;
  Inbox inbox;
  Fabric fabric;
  const topology::NodeId host_1, host_2;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_TESTS_FABRIC_SMALL_FABRIC_H_
