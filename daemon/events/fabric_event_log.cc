#include "daemon/events/fabric_event_log.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "fabric/packet/transport.h"
#include "fabric/subnet/subnet.h"
#include "mad/attribute_names.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using topology::NodeId, fabric::NodePort, fabric::PortId, fabric::Subnet;

constexpr std::string_view kKinds[] = {
    "link", "port", "sm",         "node",     "device",
    "trap", "drop", "fault",      "scenario", "qp",
    "mad",  "call", "connection", "datagram", "group"};

unsigned Number(wire::Lid lid) { return static_cast<unsigned>(lid); }

json EndOf(const Subnet& subnet, PortId id) {
  return {{"node", subnet.NodeOf(id).description},
          {"port", subnet.port(id).number}};
}

// Returns the name of a number, or, if it has none, the number as tools print
// it.
json NameOrNumber(std::string_view name, unsigned number) {
  if (!name.empty()) return name;
  return absl::StrFormat("0x%x", number);
}

// Adds fields that describe the packet's content.
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

FabricEventLog::FabricEventLog(Timers& timers, fabric::Fabric& fabric,
                               absl::Duration wall_clock)
    : EventLog(timers, wall_clock), fabric_(fabric) {}

FabricEventLog::~FabricEventLog() {
  if (Listened()) fabric_.RemoveWatcher(*this);
}

std::span<const std::string_view> FabricEventLog::kinds() const {
  return kKinds;
}

void FabricEventLog::Begin() {
  const Subnet& subnet = fabric_.subnet();
  for (const NodePort& port : subnet.ports()) {
    ports_.push_back({.port = KnownPort(port.info), .link_up = port.IsUp()});
  }
  for (const fabric::Node& node : subnet.nodes()) {
    nodes_.push_back({.on = node.on, .plugged = node.plugged});
  }
  fabric_.AddWatcher(*this);
}

void FabricEventLog::End() {
  fabric_.RemoveWatcher(*this);
  ports_ = {};
  nodes_ = {};
}

void FabricEventLog::OnPortChange(PortId id) {
  const NodePort& port = fabric_.subnet().port(id);
  KnownEnd& known = ports_[static_cast<size_t>(id)];
  TellNode(port.node);
  TellLink(id);
  known.link_up = port.IsUp();  // also if the port has no cable any more
  const KnownPort now(port.info);
  const KnownPort before = std::exchange(known.port, now);
  TellPort(EndOf(fabric_.subnet(), id), before, now);
}

void FabricEventLog::TellNode(NodeId id) {
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

// The two ends of a link change one after the other: the first change is told.
void FabricEventLog::TellLink(PortId id) {
  const Subnet& subnet = fabric_.subnet();
  const NodePort& port = subnet.port(id);
  bool& known = ports_[static_cast<size_t>(id)].link_up;
  if (port.peer == fabric::kNoPort || known == port.IsUp()) return;
  known = port.IsUp();
  ports_[static_cast<size_t>(port.peer)].link_up = port.IsUp();
  Tell("link", {{"state", port.IsUp() ? "up" : "down"},
                {"a", EndOf(subnet, id)},
                {"b", EndOf(subnet, port.peer)}});
}

void FabricEventLog::OnTrap(PortId port, const mad::Notice& notice,
                            bool repeated) {
  const mad::PortInfo& info = fabric_.subnet().port(port).info;
  json event = EndOf(fabric_.subnet(), port);
  event["trap"] = static_cast<unsigned>(notice.trap_number);
  event["lid"] = Number(info.lid);
  event["sm_lid"] = Number(info.master_sm_lid);
  event["repeated"] = repeated;
  Tell("trap", event);
}

void FabricEventLog::OnDrop(const fabric::DroppedPacket& dropped) {
  if (!DetailsWanted("drop")) return;
  json event = EndOf(fabric_.subnet(), dropped.port);
  event["cause"] = fabric::NameOf(dropped.cause);
  event["packets"] = dropped.packet.Count();
  event["slid"] = Number(dropped.packet.slid);
  event["dlid"] = Number(dropped.packet.dlid);
  DescribePayload(dropped.packet, event);
  if (dropped.fault != 0 && name_of_fault_ != nullptr) {
    event["fault"] = name_of_fault_(dropped.fault);
  }
  TellDetail("drop", event);
}

}  // namespace ibemu::daemon
