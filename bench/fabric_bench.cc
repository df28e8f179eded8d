// Costs of the simulated subnet: the time of a MAD's way through it, and its
// memory.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include "absl/strings/str_cat.h"
#include "fabric/fabric.h"
#include "fabric/subnet/links.h"
#include "fabric/subnet/subnet.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/smp.h"
#include "testing/virtual_timers.h"
#include "topology/generators.h"

namespace ibemu::fabric {
namespace {

class Counter : public mad::PortListener {
 public:
  void OnReceive(const mad::Arrival&) override { ++received; }
  int64_t received = 0;
};

// A routed and ACTIVE subnet: host 1 - five switches - host 2.
struct Row {
  Row() : fabric(MakeTopology(), timers, {}) {
    Subnet& subnet = fabric.subnet();
    for (const NodePort& port : subnet.ports()) {
      if (!port.IsUp() || port.number == 0) continue;
      const PortId id = subnet.id_of(port);
      fabric.links().SetLogicalState(id, mad::PortState::kArmed);
      fabric.links().SetLogicalState(id, mad::PortState::kActive);
    }
    for (Node& node : subnet.nodes()) {
      if (!node.is_switch()) continue;
      node.sw->info.linear_fdb_top = 63;
      node.sw->linear.Set(wire::Lid{1}, 1);
      node.sw->linear.Set(wire::Lid{2}, 2);
    }
    subnet.port(subnet.port_id(topology::NodeId{0}, 1)).info.lid = wire::Lid{1};
    subnet.port(subnet.port_id(topology::NodeId{6}, 1)).info.lid = wire::Lid{2};
    fabric.device(topology::NodeId{0}).port(1).SetListener(&answers);
    timers.RunPending();
  }

  static topology::Topology MakeTopology() {
    topology::Topology topology;
    for (uint32_t i = 0; i < 7; ++i) {
      topology::NodeSpec& spec = topology.nodes.emplace_back();
      const bool end = i == 0 || i == 6;
      spec.type = end ? mad::NodeType::kChannelAdapter : mad::NodeType::kSwitch;
      spec.port_count = end ? 1 : 36;
      spec.node_guid = wire::Guid{uint64_t{0x1000} * (i + 1)};
      if (i == 0) continue;
      topology::LinkSpec& link = topology.links.emplace_back();
      link.a = topology::NodeId{i - 1};
      link.port_a = i == 1 ? 1 : 2;
      link.b = topology::NodeId{i};
      link.port_b = 1;
      link.rate = {.width = 3, .speed = 7};
    }
    return topology;
  }

  void RoundTrips(benchmark::State& state, const mad::Outgoing& packet) {
    mad::Port& port = fabric.device(topology::NodeId{0}).port(1);
    for (auto _ : state) {
      benchmark::DoNotOptimize(port.Transmit(packet));
      timers.RunPending();
    }
    if (answers.received != static_cast<int64_t>(state.iterations())) {
      state.SkipWithError("lost MADs");
    }
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
  }

  testing::VirtualTimers timers;
  Counter answers;
  Fabric fabric;
};

void DirectedNodeInfo(benchmark::State& state) {
  Row row;
  mad::Smp smp;
  smp.mgmt_class = mad::MgmtClass::kSubnetDirectedRoute;
  smp.method = mad::Method::kGet;
  smp.attr_id = mad::AttributeId::kNodeInfo;
  smp.hop_pointer = 1;
  smp.hop_count = 6;
  smp.dr_slid = smp.dr_dlid = wire::Lid::kPermissive;
  smp.initial_path = {0, 1, 2, 2, 2, 2, 2};
  mad::Outgoing packet;
  packet.to.dlid = wire::Lid::kPermissive;
  wire::Encode(smp, packet.mad);
  row.RoundTrips(state, packet);
}
BENCHMARK(DirectedNodeInfo);

void LidRoutedPortInfo(benchmark::State& state) {
  Row row;
  mad::MadHeader header;
  header.mgmt_class = mad::MgmtClass::kSubnetLidRouted;
  header.method = mad::Method::kGet;
  header.attr_id = mad::AttributeId::kPortInfo;
  header.attr_mod = 1;
  mad::Outgoing packet;
  packet.to.dlid = wire::Lid{2};
  wire::Encode(header, packet.mad);
  row.RoundTrips(state, packet);
}
BENCHMARK(LidRoutedPortInfo);

// Reports the heap that the fabric holds, without the topology it is made from.
void Create(benchmark::State& state, const char* spec) {
  double bytes = 0, ports = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const auto topology = topology::GenerateTopology(spec);
    testing::VirtualTimers timers;
    const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    state.ResumeTiming();
    Fabric fabric(*topology, timers, {});
    state.PauseTiming();
    bytes =
        static_cast<double>(mallinfo2().uordblks + mallinfo2().hblkhd - before);
    ports = static_cast<double>(fabric.subnet().ports().size());
    state.ResumeTiming();
  }
  state.counters["ports"] = ports;
  state.counters["bytes/port"] = bytes / ports;
}
BENCHMARK_CAPTURE(Create, 11664_hosts, "fat-tree:radix=36,levels=3")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Create, 65536_hosts, "fat-tree:radix=64,levels=3")
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ibemu::fabric

BENCHMARK_MAIN();
