// A simulated subnet in virtual time, for tests of what is built on it.
#ifndef IBEMU_TESTING_LAB_H_
#define IBEMU_TESTING_LAB_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "fabric/fabric.h"
#include "fabric/subnet/links.h"
#include "fabric/subnet/subnet.h"
#include "mad/port.h"
#include "testing/inbox.h"
#include "testing/mad_builder.h"
#include "testing/topologies.h"
#include "testing/virtual_timers.h"
#include "topology/formats/load_topology.h"
#include "topology/generators.h"
#include "topology/topology.h"

namespace ibemu::testing {

// Returns what a generator makes ("fat-tree:radix=4,levels=2"), or what the
// text of a topology file says: text has more than one line.
inline topology::Topology FromText(std::string_view text) {
  absl::StatusOr<topology::Topology> made =
      text.find('\n') == text.npos ? topology::GenerateTopology(text)
                                   : topology::ParseTopology(text, "lab.net");
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

// A Lab is a subnet of any topology and its virtual time.  What arrives at port
// 1 of the first host is in `inbox`, unless a test sets another listener.
struct Lab {
  // Who has configured the subnet.
  enum Configured { kNot, kStatically, kByItsManager };

  explicit Lab(topology::Topology its, Configured configured = kNot,
               uint64_t seed = 1)
      : topology(std::move(its)), fabric(topology, timers, {.seed = seed}) {
    for (uint32_t i = 0; i < topology.nodes.size(); ++i) {
      const bool forwards = topology.nodes[i].type == mad::NodeType::kSwitch;
      (forwards ? switches : hosts).push_back(topology::NodeId{i});
    }
    if (!hosts.empty()) HostPort(1).SetListener(&inbox);
    if (configured == kStatically) Configure();
    if (configured == kByItsManager) {
      EXPECT_TRUE(StartSubnetManager(fabric).ok());
      timers.RunPending();
    }
  }
  // `text`: as FromText() takes it.
  explicit Lab(std::string_view text, Configured configured = kNot)
      : Lab(FromText(text), configured) {}

  // Gives LIDs (hosts in their order from 1 on, then switches) and routes, and
  // makes all links ACTIVE.  Switches forward up to LID 63 at least, so that a
  // test may add routes.
  void Configure() {
    EXPECT_TRUE(ConfigureStatically(fabric).ok());
    for (const topology::NodeId id : switches) {
      uint16_t& top = subnet().node(id).sw->info.linear_fdb_top;
      top = std::max(top, uint16_t{63});
    }
    timers.RunPending();
  }
  // Makes all links ACTIVE, as a subnet manager does it: who listens hears of
  // it.
  void Activate() {
    for (const fabric::NodePort& port : subnet().ports()) {
      if (!port.IsUp() || port.number == 0) continue;
      for (const auto state : {mad::PortState::kArmed, mad::PortState::kActive})
        fabric.links().SetLogicalState(subnet().id_of(port), state);
    }
    timers.RunPending();
  }
  fabric::SubnetManager& manager() { return *fabric.subnet_manager(); }

  fabric::Subnet& subnet() { return fabric.subnet(); }
  topology::NodeId Find(std::string_view node) const {
    const absl::StatusOr<topology::NodeId> id = fabric.Find(node);
    EXPECT_TRUE(id.ok()) << id.status();
    return *id;
  }
  // Numbers begin at 1.
  topology::NodeId Host(int number) const { return At(hosts, number); }
  topology::NodeId Switch(int number) const { return At(switches, number); }

  // Port 1 of a host, and its verbs.
  mad::Port& HostPort(int number) {
    return fabric.device(Host(number)).port(1);
  }
  verbs::Provider& Provider(int number) {
    return fabric.provider(Host(number));
  }

  fabric::NodePort& PortOf(topology::NodeId node, int number) {
    return subnet().port(subnet().port_id(node, number));
  }
  fabric::NodePort& PortOf(std::string_view node, int number) {
    return PortOf(Find(node), number);
  }
  fabric::PortId IdOf(std::string_view node, int number) {
    return subnet().id_of(PortOf(node, number));
  }
  wire::Lid LidOf(std::string_view node, int number = 1) {
    return PortOf(node, number).info.lid;
  }

  void SetLink(topology::NodeId node, int port, bool up) {
    const absl::Status set = fabric.SetLink(node, port, up);
    EXPECT_TRUE(set.ok()) << set;
  }
  void AddFault(topology::NodeId node, int port,
                fabric::Fabric::Direction direction,
                const fabric::LinkFaults& faults,
                const fabric::FaultChance& chance = {}) {
    const auto added = fabric.AddFault(node, port, direction, faults, chance);
    EXPECT_TRUE(added.ok()) << added.status();
  }

  void Transmit(int host, const mad::Outgoing& packet) {
    const absl::Status sent = HostPort(host).Transmit(packet);
    EXPECT_TRUE(sent.ok()) << sent;
  }
  // Lets the first host send this; returns what came back.
  std::vector<mad::Arrival> Send(const mad::Outgoing& packet) {
    inbox.arrivals.clear();
    Transmit(1, packet);
    EXPECT_TRUE(inbox.arrivals.empty()) << "delivered before it returned";
    timers.RunPending();
    return inbox.arrivals;
  }

  topology::Topology topology;
  VirtualTimers timers;
  Inbox inbox;
  fabric::Fabric fabric;
  std::vector<topology::NodeId> hosts, switches;

 private:
  static topology::NodeId At(const std::vector<topology::NodeId>& nodes,
                             int number) {
    return nodes.at(static_cast<size_t>(number - 1));
  }
};

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_LAB_H_
