#include "daemon/event_log.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "daemon/port_text.h"
#include "daemon/rpc.h"
#include "fabric/subnet.h"
#include "fabric/transport.h"
#include "mad/attribute_names.h"
#include "mad/wire/port_codes.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using fabric::NodeId, fabric::NodePort, fabric::PortId, fabric::Subnet;
using nlohmann::json;

unsigned Number(mad::Lid lid) { return static_cast<unsigned>(lid); }

json End(const Subnet& subnet, PortId id) {
  return {{"node", subnet.NodeOf(id).description},
          {"port", subnet.port(id).number}};
}

// Of a number that has no name: as tools print it.
json NameOrNumber(std::string_view name, unsigned number) {
  if (!name.empty()) return name;
  return absl::StrFormat("0x%x", number);
}

// What a packet carries.
void DescribePayload(const fabric::Packet& packet, json& event) {
  if (packet.transport != nullptr) {
    event["class"] = "verbs";
    return;
  }
  const auto mgmt_class = wire::Get<&mad::MadHeader::mgmt_class>(packet.mad);
  const auto attribute = wire::Get<&mad::MadHeader::attr_id>(packet.mad);
  event["class"] =
      NameOrNumber(mad::NameOf(mgmt_class), static_cast<unsigned>(mgmt_class));
  event["attribute"] = NameOrNumber(mad::NameOf(mgmt_class, attribute),
                                    static_cast<unsigned>(attribute));
}

}  // namespace

EventLog::EventLog(Timers& timers, fabric::Fabric& fabric,
                   absl::Duration wall_clock)
    : timers_(timers),
      fabric_(fabric),
      start_(timers.Now()),
      wall_clock_(wall_clock) {}

EventLog::~EventLog() {
  if (Listened()) fabric_.RemoveWatcher(*this);
}

EventLog::KnownPort::KnownPort(const NodePort& port)
    : state(port.info.port_state),
      link_up(port.IsUp()),
      is_sm((port.info.capability_mask & mad::capability::kIsSm) != 0),
      lmc(port.info.lmc),
      lid(port.info.lid),
      sm_lid(port.info.master_sm_lid) {}

void EventLog::Add(EventListener& listener) {
  const bool first = !Listened();
  listeners_.Add(listener);
  if (!first) return;
  const Subnet& subnet = fabric_.subnet();
  for (const NodePort& port : subnet.ports()) ports_.emplace_back(port);
  for (const fabric::Node& node : subnet.nodes()) {
    nodes_.push_back({.on = node.on, .plugged = node.plugged});
  }
  fabric_.AddWatcher(*this);
}

void EventLog::Remove(const EventListener& listener) {
  listeners_.Remove(listener);
  if (Listened()) return;
  fabric_.RemoveWatcher(*this);
  ports_ = {};
  nodes_ = {};
}

void EventLog::Tell(std::string_view kind, const json& fields) {
  if (!Listened()) return;
  const absl::Time now = timers_.Now();
  json event = {
      {"time_ns", absl::ToInt64Nanoseconds(now - start_)},
      {"wall", absl::FormatTime("%Y-%m-%dT%H:%M:%E9SZ", now + wall_clock_,
                                absl::UTCTimeZone())},
      {"event", kind}};
  event.update(fields);
  const std::string line = Dump(event);
  listeners_.ForEach(
      [&](EventListener& listener) { listener.OnEvent(kind, line); });
}

bool EventLog::Wanted(std::string_view kind) {
  bool wanted = false;
  listeners_.ForEach([&](const EventListener& listener) {
    wanted = wanted || listener.Wants(kind);
  });
  return wanted;
}

void EventLog::OnPortChange(PortId port) {
  TellNode(fabric_.subnet().port(port).node);
  TellLink(port);
  TellPort(port);
}

void EventLog::TellNode(NodeId id) {
  const fabric::Node& node = fabric_.subnet().node(id);
  KnownNode& known = nodes_[static_cast<size_t>(id)];
  const auto tell = [&](const char* kind, const char* state) {
    Tell(kind, {{"node", node.description}, {"state", state}});
  };
  if (std::exchange(known.on, node.on) != node.on) {
    tell("node", node.on ? "up" : "down");
  }
  if (std::exchange(known.plugged, node.plugged) != node.plugged) {
    tell("device", node.plugged ? "added" : "removed");
  }
}

// Both ends change one after the other: the first one tells.
void EventLog::TellLink(PortId id) {
  const Subnet& subnet = fabric_.subnet();
  const NodePort& port = subnet.port(id);
  KnownPort& known = ports_[static_cast<size_t>(id)];
  if (port.peer == fabric::kNoPort || known.link_up == port.IsUp()) return;
  known.link_up = port.IsUp();
  ports_[static_cast<size_t>(port.peer)].link_up = port.IsUp();
  Tell("link", {{"state", port.IsUp() ? "up" : "down"},
                {"a", End(subnet, id)},
                {"b", End(subnet, port.peer)}});
}

void EventLog::TellPort(PortId id) {
  const NodePort& port = fabric_.subnet().port(id);
  KnownPort& known = ports_[static_cast<size_t>(id)];
  const KnownPort before = known;
  known = KnownPort(port);
  if (before.is_sm != known.is_sm) {
    json event = End(fabric_.subnet(), id);
    event["is_sm"] = known.is_sm;
    Tell("sm", event);
  }
  if (before.state == known.state && before.lid == known.lid &&
      before.lmc == known.lmc && before.sm_lid == known.sm_lid) {
    return;
  }
  json event = End(fabric_.subnet(), id);
  event["state"] = PortStateText(known.state);
  event["lid"] = Number(known.lid);
  event["lmc"] = known.lmc;
  event["sm_lid"] = Number(known.sm_lid);
  Tell("port", event);
}

void EventLog::OnTrap(PortId port, const mad::Notice& notice, bool repeated) {
  const mad::PortInfo& info = fabric_.subnet().port(port).info;
  json event = End(fabric_.subnet(), port);
  event["trap"] = static_cast<unsigned>(notice.trap_number);
  event["lid"] = Number(info.lid);
  event["sm_lid"] = Number(info.master_sm_lid);
  event["repeated"] = repeated;
  Tell("trap", event);
}

void EventLog::OnDrop(const fabric::DroppedPacket& dropped) {
  if (!Wanted("drop")) return;
  json event = End(fabric_.subnet(), dropped.port);
  event["cause"] = fabric::NameOf(dropped.cause);
  event["packets"] = dropped.packet.Count();
  event["slid"] = Number(dropped.packet.slid);
  event["dlid"] = Number(dropped.packet.dlid);
  DescribePayload(dropped.packet, event);
  if (dropped.fault != 0 && fault_names_ != nullptr) {
    event["fault"] = fault_names_(dropped.port, dropped.fault);
  }
  Tell("drop", event);
}

}  // namespace ibemu::daemon
