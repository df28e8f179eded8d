#include "daemon/web/metrics/metrics.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "daemon/subnet/fabric_methods.h"
#include "daemon/words/port_text.h"
#include "fabric/soft_hca/hca.h"
#include "fabric/subnet/subnet.h"
#include "verbs/hw_counters.h"

namespace ibemu::daemon {
namespace {

using fabric::EventCounters;
using fabric::NodePort;
using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily Total(std::string name, std::string help, uint64_t value) {
  MetricFamily family =
      MakeFamily(std::move(name), std::move(help), MetricType::Counter);
  AddSample(family, static_cast<double>(value));
  return family;
}

const char* TypeOf(const fabric::Node& node) {
  if (node.is_switch()) return "switch";
  return node.type == mad::NodeType::kRouter ? "router" : "ca";
}

MetricFamily NodeFamily(const fabric::Subnet& subnet) {
  constexpr std::array<const char*, 3> kTypes = {"ca", "switch", "router"};
  MetricFamily family = MakeFamily(
      "ibemu_nodes", "Nodes of the fabric, by what they do", MetricType::Gauge);
  for (const std::string type : kTypes) {
    for (const bool up : {true, false}) {
      const auto nodes = subnet.nodes();
      const auto count = std::count_if(
          nodes.begin(), nodes.end(), [&](const fabric::Node& node) {
            return TypeOf(node) == type && node.up == up;
          });
      AddSample(family, static_cast<double>(count),
                {{"type", type}, {"state", up ? "up" : "down"}});
    }
  }
  return family;
}

MetricLabels LabelsOf(const fabric::Subnet& subnet, const NodePort& port) {
  const fabric::Node& node = subnet.node(port.node);
  return {{"node", node.description},
          {"guid", GuidText(node.node_guid)},
          {"port", std::to_string(port.number)}};
}

// Of ports whose adapter has counted something: what their hw_counters/ tell.
MetricFamily HwCounterFamily(const fabric::Fabric& fabric) {
  MetricFamily family = MakeFamily(
      "ibemu_hw_counter_total",
      "What a simulated adapter counted of the transport of its queue pairs",
      MetricType::Counter);
  const fabric::Subnet& subnet = fabric.subnet();
  for (const NodePort& port : subnet.ports()) {
    const fabric::Hca* const hca = fabric.FindHca(port.node);
    if (hca == nullptr) continue;
    const verbs::HwCounters counters = hca->CountersOf(port.number);
    if (counters == verbs::HwCounters{}) continue;
    for (const auto& [name, counter] : verbs::kHwCounters) {
      MetricLabels labels = LabelsOf(subnet, port);
      labels.push_back({"counter", std::string(name)});
      AddSample(family, static_cast<double>(counters.*counter),
                std::move(labels));
    }
  }
  return family;
}

// Of hosts that have queue pairs: how full these are.
MetricFamily QueueFamily(const fabric::Fabric& fabric) {
  MetricFamily family = MakeFamily(
      "ibemu_queue_pair_requests",
      "Places of send and receive queues that are taken up", MetricType::Gauge);
  const auto& nodes = fabric.subnet().nodes();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const fabric::Node& node = nodes[i];
    const fabric::Hca* const hca =
        fabric.FindHca(topology::NodeId{static_cast<uint32_t>(i)});
    if (hca == nullptr) continue;
    const std::vector<fabric::QueuePairStatus> queue_pairs = hca->QueuePairs();
    if (queue_pairs.empty()) continue;
    size_t sends = 0, receives = 0;
    for (const fabric::QueuePairStatus& one : queue_pairs) {
      sends += one.sends;
      receives += one.receives;
    }
    for (const auto& [queue, count] :
         {std::pair("send", sends), std::pair("receive", receives)}) {
      AddSample(family, static_cast<double>(count),
                {{"node", node.description},
                 {"guid", GuidText(node.node_guid)},
                 {"queue", queue}});
    }
  }
  return family;
}

MetricFamily LinkFamily(const fabric::Subnet& subnet) {
  MetricFamily family = MakeFamily(
      "ibemu_links", "Links of the fabric, by their state", MetricType::Gauge);
  std::array<int, 3> counts{};
  for (const NodePort& port : subnet.ports()) {
    if (port.peer == fabric::kNoPort || port.peer < subnet.id_of(port)) {
      continue;
    }
    ++counts[port.IsActive() ? 0 : port.IsUp() ? 1 : 2];
  }
  AddSample(family, counts[0], {{"state", "active"}});
  AddSample(family, counts[1], {{"state", "not_active"}});
  AddSample(family, counts[2], {{"state", "down"}});
  return family;
}

// `events` are zero when the port has had none.
struct PortMetric {
  const char* name;
  const char* help;
  MetricType type;
  uint64_t (*value)(const NodePort& port, const EventCounters& events);
};

constexpr uint64_t kBytes = 4;  // in a unit of PortXmitData

constexpr std::array<PortMetric, 11> kPortMetrics = {{
    {"ibemu_port_state", "PortState: 1 Down, 2 Initialize, 3 Armed, 4 Active",
     MetricType::Gauge,
     [](const NodePort& port, const EventCounters&) {
       return static_cast<uint64_t>(port.info.port_state);
     }},
    {"ibemu_port_transmitted_bytes_total", "PortXmitData, in bytes",
     MetricType::Counter,
     [](const NodePort& port, const EventCounters&) {
       return port.traffic.xmit_data * kBytes;
     }},
    {"ibemu_port_received_bytes_total", "PortRcvData, in bytes",
     MetricType::Counter,
     [](const NodePort& port, const EventCounters&) {
       return port.traffic.rcv_data * kBytes;
     }},
    {"ibemu_port_transmitted_packets_total", "PortXmitPkts",
     MetricType::Counter,
     [](const NodePort& port, const EventCounters&) {
       return port.traffic.xmit_packets;
     }},
    {"ibemu_port_received_packets_total", "PortRcvPkts", MetricType::Counter,
     [](const NodePort& port, const EventCounters&) {
       return port.traffic.rcv_packets;
     }},
    {"ibemu_port_link_downed_total", "LinkDownedCounter", MetricType::Counter,
     [](const NodePort&, const EventCounters& events) {
       return events.link_downed;
     }},
    {"ibemu_port_symbol_errors_total", "SymbolErrorCounter",
     MetricType::Counter,
     [](const NodePort&, const EventCounters& events) {
       return events.symbol_errors;
     }},
    {"ibemu_port_receive_errors_total", "PortRcvErrors", MetricType::Counter,
     [](const NodePort&, const EventCounters& events) {
       return events.rcv_errors();
     }},
    {"ibemu_port_switch_relay_errors_total", "PortRcvSwitchRelayErrors",
     MetricType::Counter,
     [](const NodePort&, const EventCounters& events) {
       return events.switch_relay_errors();
     }},
    {"ibemu_port_transmit_discards_total", "PortXmitDiscards",
     MetricType::Counter,
     [](const NodePort&, const EventCounters& events) {
       return events.xmit_discards();
     }},
    {"ibemu_port_vl15_dropped_total", "VL15Dropped", MetricType::Counter,
     [](const NodePort&, const EventCounters& events) {
       return events.vl15_dropped;
     }},
}};

}  // namespace

MetricFamilies FabricMetrics(const fabric::Fabric& fabric) {
  const fabric::ForwardingTotals& totals = fabric.totals();
  MetricFamilies families = {
      NodeFamily(fabric.subnet()),
      LinkFamily(fabric.subnet()),
      Total("ibemu_packets_sent_total", "Packets that left their source",
            totals.sent),
      Total("ibemu_hops_total", "Links that packets crossed", totals.hops),
      Total("ibemu_packets_delivered_total",
            "Copies of packets that reached an end", totals.delivered),
      Total("ibemu_packets_dropped_total", "Copies of packets that did not",
            totals.dropped)};
  for (MetricFamily family : {HwCounterFamily(fabric), QueueFamily(fabric)}) {
    if (!family.metric.empty()) families.push_back(std::move(family));
  }
  return families;
}

size_t PortMetricKinds() { return kPortMetrics.size(); }

MetricFamily PortMetrics(size_t kind, const fabric::Subnet& subnet, size_t from,
                         size_t count) {
  const PortMetric& metric = kPortMetrics[kind];
  MetricFamily family = MakeFamily(metric.name, metric.help, metric.type);
  const auto ports = subnet.ports();
  for (size_t i = from; i < std::min(from + count, ports.size()); ++i) {
    const NodePort& port = ports[i];
    if (port.peer == fabric::kNoPort) continue;
    const EventCounters none;
    const EventCounters& events = port.events ? *port.events : none;
    AddSample(family, static_cast<double>(metric.value(port, events)),
              LabelsOf(subnet, port));
  }
  return family;
}

}  // namespace ibemu::daemon
