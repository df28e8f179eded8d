#include "daemon/web/metrics/adapter_metrics.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "daemon/adapters/hca_status.h"
#include "daemon/subnet/fabric_methods.h"
#include "daemon/words/port_text.h"

namespace ibemu::daemon {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

// One family, with samples of every adapter.
template <class Sample>
MetricFamily OfAdapters(const HcaAdapters& adapters, const char* name,
                        const char* help, MetricType type, Sample sample) {
  MetricFamily family = MakeFamily(name, help, type);
  for (size_t i = 0; i < adapters.count(); ++i) sample(family, adapters.at(i));
  return family;
}

void AddInfo(MetricFamily& family, const HcaView& adapter) {
  const mad::DeviceLabel& label = *adapter.device.label();
  AddSample(family, 1,
            {{"adapter", adapter.name},
             {"device", adapter.device.product()},
             {"board_id", label.board_id},
             {"firmware", label.firmware},
             {"node", adapter.device.node_description()},
             {"guid", GuidText(adapter.device.node_guid())}});
}

void AddCommands(MetricFamily& family, const HcaView& adapter) {
  for (const auto& [name, totals] : adapter.device.commands()) {
    const auto add = [&, command = name](const char* result, uint64_t count) {
      AddSample(family, static_cast<double>(count),
                {{"adapter", adapter.name},
                 {"command", command},
                 {"result", result}});
    };
    add("done", totals.done);
    add("refused", totals.refused);
    add("timed_out", totals.timed_out);
    add("not_sent", totals.not_sent);
  }
}

void AddCommandTime(MetricFamily& family, const HcaView& adapter) {
  for (const auto& [name, totals] : adapter.device.commands()) {
    AddSample(family, absl::ToDoubleSeconds(totals.time),
              {{"adapter", adapter.name}, {"command", name}});
  }
}

void AddEvents(MetricFamily& family, const HcaView& adapter) {
  for (const auto& [name, count] : adapter.device.events()) {
    AddSample(family, static_cast<double>(count),
              {{"adapter", adapter.name}, {"type", name}});
  }
}

void AddObjects(MetricFamily& family, const HcaView& adapter) {
  const hca::VerbsUse use = adapter.device.verbs_use();
  const std::pair<const char*, size_t> kinds[] = {
      {"protection_domain", use.pds}, {"memory_region", use.mrs},
      {"address_handle", use.ahs},    {"completion_queue", use.cqs},
      {"queue_pair", use.qps},        {"shared_receive_queue", use.srqs}};
  for (const auto& [kind, count] : kinds) {
    AddSample(family, static_cast<double>(count),
              {{"adapter", adapter.name}, {"kind", kind}});
  }
}

void AddMessageMemory(MetricFamily& family, const HcaView& adapter) {
  const hca::VerbsUse use = adapter.device.verbs_use();
  AddSample(family, static_cast<double>(use.send_memory),
            {{"adapter", adapter.name}, {"queue", "send"}});
  AddSample(family, static_cast<double>(use.receive_memory),
            {{"adapter", adapter.name}, {"queue", "receive"}});
}

MetricLabels LabelsOf(const HcaView& adapter, int port) {
  return {{"node", adapter.device.node_description()},
          {"guid", GuidText(adapter.device.node_guid())},
          {"port", std::to_string(port)}};
}

void AddPortStates(MetricFamily& family, const HcaView& adapter) {
  for (int port = 1; port <= adapter.device.last_port(); ++port) {
    AddSample(family, static_cast<double>(InfoOf(adapter, port).port_state),
              LabelsOf(adapter, port));
  }
}

// Returns a metric of queue pairs 0 and 1 of each port.
MetricFamily MadFamily(const HcaAdapters& adapters, const char* name,
                       const char* help, uint64_t hca::MadTotals::*count) {
  const auto add = [count](MetricFamily& family, const HcaView& adapter,
                           int port, int qp) {
    MetricLabels labels = LabelsOf(adapter, port);
    labels.push_back({"qp", std::to_string(qp)});
    AddSample(family, static_cast<double>(adapter.device.mads(port, qp).*count),
              std::move(labels));
  };
  return OfAdapters(adapters, name, help, MetricType::Counter,
                    [&add](MetricFamily& family, const HcaView& adapter) {
                      for (int port = 1; port <= adapter.device.last_port();
                           ++port) {
                        add(family, adapter, port, 0);
                        add(family, adapter, port, 1);
                      }
                    });
}

}  // namespace

MetricFamilies AdapterMetrics(const HcaAdapters& adapters) {
  return {
      OfAdapters(adapters, "ibemu_adapter_info",
                 "What an adapter is; the value is 1", MetricType::Gauge,
                 AddInfo),
      OfAdapters(adapters, "ibemu_adapter_alive",
                 "1, and 0 since the adapter has died", MetricType::Gauge,
                 [](MetricFamily& family, const HcaView& adapter) {
                   AddSample(family, adapter.alive ? 1 : 0,
                             {{"adapter", adapter.name}});
                 }),
      OfAdapters(adapters, "ibemu_adapter_commands_total",
                 "Commands to the firmware, by what became of them",
                 MetricType::Counter, AddCommands),
      OfAdapters(adapters, "ibemu_adapter_command_seconds_total",
                 "How long the daemon waited for commands", MetricType::Counter,
                 AddCommandTime),
      OfAdapters(adapters, "ibemu_adapter_events_total",
                 "Entries of the event queue", MetricType::Counter, AddEvents),
      OfAdapters(adapters, "ibemu_adapter_objects",
                 "What programs have made of verbs", MetricType::Gauge,
                 AddObjects),
      OfAdapters(adapters, "ibemu_adapter_message_memory_bytes",
                 "Memory of messages under way", MetricType::Gauge,
                 AddMessageMemory)};
}

MetricFamily AdapterPortMetrics(const HcaAdapters& adapters, size_t kind) {
  using hca::MadTotals;
  switch (kind) {
    case 0:
      return OfAdapters(adapters, "ibemu_port_state",
                        "PortState: 1 Down, 2 Initialize, 3 Armed, 4 Active",
                        MetricType::Gauge, AddPortStates);
    case 1:
      return MadFamily(adapters, "ibemu_port_mads_sent_total",
                       "MADs given to the adapter", &MadTotals::sent);
    case 2:
      return MadFamily(adapters, "ibemu_port_mads_received_total",
                       "MADs taken from the adapter", &MadTotals::received);
    default:
      return MadFamily(
          adapters, "ibemu_port_mads_dropped_total",
          "MADs that found no room or met an error, and what is no MAD",
          &MadTotals::dropped);
  }
}

}  // namespace ibemu::daemon
