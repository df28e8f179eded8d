#include "fabric/subnet/links.h"

#include <cassert>

#include "fabric/subnet/link_rate.h"

namespace ibemu::fabric {

using mad::PortPhysicalState, mad::PortState;

Links::Links(Subnet& subnet, FabricEvents& events)
    : subnet_(subnet), events_(events) {
  silent_ = true;
  for (const NodePort& port : subnet_.ports()) Train(subnet_.id_of(port));
  for (Node& node : subnet_.nodes()) {
    if (node.is_switch()) node.sw->info.port_state_change = false;
  }
  silent_ = false;
}

void Links::SetCable(PortId id, bool up, uint32_t fault) {
  NodePort& port = subnet_.port(id);
  assert(port.peer != kNoPort);
  if (port.cable_up == up) return;
  for (const PortId end : {id, port.peer}) {
    cut_by_.erase(end);
    if (!up && fault != 0) cut_by_.emplace(end, fault);
  }
  if (!up) Drop(id);
  port.cable_up = up;
  subnet_.port(port.peer).cable_up = up;
  TellOfCable(id, port.peer);
  if (up) Train(id);
}

uint32_t Links::CutBy(PortId port) const {
  const auto found = cut_by_.find(port);
  return found == cut_by_.end() ? 0 : found->second;
}

void Links::Relink(PortId a, PortId b) {
  Unplug(a);
  if (b == kNoPort) return;
  Unplug(b);
  subnet_.port(a).peer = b;
  subnet_.port(b).peer = a;
  TellOfCable(a, b);
  Train(a);
}

void Links::Unplug(PortId id) {
  NodePort& port = subnet_.port(id);
  if (port.peer == kNoPort) return;
  Drop(id);
  NodePort& peer = subnet_.port(port.peer);
  cut_by_.erase(id);
  cut_by_.erase(port.peer);
  port.peer = peer.peer = kNoPort;
  port.cable_up = peer.cable_up = true;
  TellOfCable(id, subnet_.id_of(peer));
}

void Links::SetNode(topology::NodeId id, bool on) {
  subnet_.node(id).on = on;
  Update(id);
}

void Links::SetPlugged(topology::NodeId id, bool plugged) {
  subnet_.node(id).plugged = plugged;
  Update(id);
}

void Links::Update(topology::NodeId id) {
  Node& node = subnet_.node(id);
  events_.OnHardwareChange(subnet_.port_id(node, node.first_number()));
  const bool up = node.on && node.plugged;
  if (node.up == up) return;
  if (up) subnet_.ResetNode(id);
  for (NodePort& port : subnet_.PortsOf(node)) {
    const PortId port_id = subnet_.id_of(port);
    if (!up) Drop(port_id);
  }
  node.up = up;
  for (NodePort& port : subnet_.PortsOf(node)) {
    const PortId port_id = subnet_.id_of(port);
    if (up) Train(port_id);
    events_.OnPortChange(port_id);
    events_.OnHardwareChange(port_id);  // power-on enables it
  }
}

bool Links::SetLogicalState(PortId id, PortState wanted) {
  NodePort& port = subnet_.port(id);
  mad::PortInfo& info = port.info;
  switch (wanted) {
    case PortState::kNoChange:
      return true;
    case PortState::kDown:
      if (port.number == 0) return false;
      Drop(id);
      Train(id);
      return true;
    case PortState::kArmed:
      if (info.port_state != PortState::kInit &&
          info.port_state != PortState::kArmed) {
        return false;
      }
      break;
    case PortState::kActive:
      if (info.port_state != PortState::kArmed &&
          info.port_state != PortState::kActive) {
        return false;
      }
      break;
    default:
      return false;
  }
  if (info.port_state == wanted) return true;
  info.port_state = wanted;
  events_.OnPortChange(id);
  return true;
}

bool Links::SetPhysicalState(PortId id, PortPhysicalState wanted) {
  NodePort& port = subnet_.port(id);
  switch (wanted) {
    case PortPhysicalState::kNoChange:
      return true;
    case PortPhysicalState::kSleep:
    case PortPhysicalState::kPolling:
    case PortPhysicalState::kDisabled:
      break;
    default:
      return false;
  }
  if (port.number == 0) return false;
  Drop(id);
  const bool was_disabled =
      port.info.port_physical_state == PortPhysicalState::kDisabled;
  port.info.port_physical_state = wanted;
  Train(id);
  if (was_disabled != (wanted == PortPhysicalState::kDisabled)) {
    events_.OnHardwareChange(id);
  }
  return true;
}

void Links::OnDataWhileArmed(PortId id) {
  SetLogicalState(id, PortState::kActive);
}

// A sleeping port listens, and wakes up when the other end polls.
void Links::Train(PortId id) {
  NodePort& port = subnet_.port(id);
  if (port.peer == kNoPort || !port.cable_up) return;
  NodePort& peer = subnet_.port(port.peer);
  const auto ready = [this](const NodePort& end) {
    const PortPhysicalState state = end.info.port_physical_state;
    return subnet_.node(end.node).up && (state == PortPhysicalState::kPolling ||
                                         state == PortPhysicalState::kSleep);
  };
  const auto polls = [](const NodePort& end) {
    return end.info.port_physical_state == PortPhysicalState::kPolling;
  };
  if (!ready(port) || !ready(peer) || (!polls(port) && !polls(peer))) return;
  const NegotiatedRate rate = Negotiate(port.info, peer.info);
  if (rate.width == 0) return;
  for (NodePort* end : {&port, &peer}) {
    mad::PortInfo& info = end->info;
    info.link_width_active = rate.width;
    info.link_speed_active = rate.speed;
    info.link_speed_ext_active = rate.speed_ext;
    info.link_speed_ext_active2 = rate.speed_ext2;
    info.port_physical_state = PortPhysicalState::kLinkUp;
    info.port_state = PortState::kInit;
    Tell(*end);
  }
}

void Links::Drop(PortId id) {
  NodePort& port = subnet_.port(id);
  if (port.peer == kNoPort ||
      port.info.port_physical_state != PortPhysicalState::kLinkUp) {
    return;
  }
  for (NodePort* end : {&port, &subnet_.port(port.peer)}) {
    mad::PortInfo& info = end->info;
    SetDownRate(info);
    info.port_physical_state = info.link_down_default_state;
    info.port_state = PortState::kDown;
    ++end->Events().link_downed;
    ++end->link_epoch;
    Tell(*end);
  }
}

void Links::TellOfCable(PortId a, PortId b) {
  events_.OnHardwareChange(a);
  events_.OnHardwareChange(b);
}

void Links::Tell(NodePort& port) {
  if (silent_) return;
  events_.OnPortChange(subnet_.id_of(port));
  Node& node = subnet_.node(port.node);
  if (!node.is_switch() || !node.up) return;
  node.sw->info.port_state_change = true;
  events_.OnLinkStateChange(port.node);
}

}  // namespace ibemu::fabric
