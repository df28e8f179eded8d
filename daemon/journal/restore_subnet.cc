#include "daemon/journal/restore_subnet.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "fabric/subnet/links.h"
#include "fabric/subnet/subnet.h"

namespace ibemu::daemon {
namespace {

using fabric::kNoPort, fabric::NodePort, fabric::PortId, fabric::Subnet;

constexpr char kNoCable[] = "port 0 of a switch has no cable";

std::string Text(const JournalPlace& place) {
  return absl::StrFormat("port %d of node %d", place.port,
                         static_cast<uint32_t>(place.node));
}

absl::Status Wrong(const std::string& what) {
  return absl::DataLossError(what);
}

absl::Status CheckNode(topology::NodeId node, const Subnet& subnet) {
  if (static_cast<size_t>(node) < subnet.nodes().size()) {
    return absl::OkStatus();
  }
  return Wrong(absl::StrFormat("there is no node %d: there are 0 to %d",
                               static_cast<uint32_t>(node),
                               subnet.nodes().size() - 1));
}

absl::StatusOr<PortId> FindPort(const JournalPlace& place,
                                const Subnet& subnet) {
  IBEMU_RETURN_IF_ERROR(CheckNode(place.node, subnet));
  const fabric::Node& node = subnet.node(place.node);
  if (subnet.has_port(node, place.port)) {
    return subnet.port_id(node, place.port);
  }
  return Wrong(absl::StrFormat("there is no %s: it has %d to %d", Text(place),
                               node.first_number(), node.port_count));
}

// The ports of a journal, checked.
class Ports {
 public:
  absl::Status Take(const JournalContent& content, const Subnet& subnet) {
    for (const JournalPort& port : content.ports) {
      IBEMU_RETURN_IF_ERROR(Take(port, subnet));
    }
    for (const auto& [id, port] : ports_) {
      IBEMU_RETURN_IF_ERROR(CheckCable(id, *port.row, subnet));
    }
    return absl::OkStatus();
  }

  struct Port {
    const JournalPort* row;
    PortId peer;
  };
  const std::map<PortId, Port>& all() const { return ports_; }

 private:
  absl::Status Take(const JournalPort& port, const Subnet& subnet) {
    IBEMU_ASSIGN_OR_RETURN(const PortId id, FindPort(port.place, subnet));
    if (port.disabled && port.place.port == 0) {
      return Wrong("port 0 of a switch can't be disabled");
    }
    PortId peer = kNoPort;
    if (port.peer) {
      IBEMU_ASSIGN_OR_RETURN(peer, FindPort(*port.peer, subnet));
      if (port.place.port == 0 || port.peer->port == 0) {
        return Wrong(kNoCable);
      }
    }
    if (!ports_.emplace(id, Port{&port, peer}).second) {
      return Wrong(absl::StrCat(Text(port.place), " is there twice"));
    }
    return absl::OkStatus();
  }

  // Who is not in the journal is as the topology says.
  PortId PeerOf(PortId id, const Subnet& subnet) const {
    const auto found = ports_.find(id);
    return found == ports_.end() ? subnet.port(id).peer : found->second.peer;
  }
  bool IsCut(PortId id, const Subnet& subnet) const {
    const auto found = ports_.find(id);
    return found == ports_.end() ? !subnet.port(id).cable_up
                                 : found->second.row->cut;
  }

  absl::Status CheckCable(PortId id, const JournalPort& port,
                          const Subnet& subnet) const {
    const PortId before = subnet.port(id).peer;
    const PortId peer = PeerOf(id, subnet);
    // A cable that went from here has left its other end loose, too.
    if (before != kNoPort && before != peer && PeerOf(before, subnet) == id) {
      return Wrong(absl::StrCat(Text(port.place), " has lost a cable that is ",
                                "still in ", subnet.PortName(before)));
    }
    if (peer == kNoPort) return absl::OkStatus();
    if (peer == id || PeerOf(peer, subnet) != id) {
      return Wrong(absl::StrCat("the cable of ", Text(port.place),
                                " does not end at ", Text(*port.peer)));
    }
    if (IsCut(peer, subnet) != port.cut) {
      return Wrong(absl::StrCat("the cable of ", Text(port.place),
                                " is cut at one end alone"));
    }
    return absl::OkStatus();
  }

  std::map<PortId, Port> ports_;
};

absl::Status CheckNodes(const JournalContent& content, const Subnet& subnet) {
  std::set<topology::NodeId> known;
  for (const JournalNode& node : content.nodes) {
    IBEMU_RETURN_IF_ERROR(CheckNode(node.node, subnet));
    if (!known.insert(node.node).second) {
      return Wrong(absl::StrFormat("node %d is there twice",
                                   static_cast<uint32_t>(node.node)));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckReverts(const JournalContent& content, const Subnet& subnet) {
  for (const JournalRevert& revert : content.reverts) {
    IBEMU_RETURN_IF_ERROR(FindPort(revert.place, subnet).status());
    if (revert.place.port == 0) return Wrong(kNoCable);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RestoreSubnet(const JournalContent& content,
                           fabric::Fabric& fabric) {
  Subnet& subnet = fabric.subnet();
  fabric::Links& links = fabric.links();
  Ports ports;
  IBEMU_RETURN_IF_ERROR(ports.Take(content, subnet));
  IBEMU_RETURN_IF_ERROR(CheckNodes(content, subnet));
  IBEMU_RETURN_IF_ERROR(CheckReverts(content, subnet));
  for (const auto& [id, port] : ports.all()) {
    if (subnet.port(id).peer != port.peer) links.Relink(id, kNoPort);
  }
  for (const auto& [id, port] : ports.all()) {
    if (subnet.port(id).peer != port.peer) links.Relink(id, port.peer);
  }
  for (const auto& [id, port] : ports.all()) {
    if (port.peer != kNoPort) links.SetCable(id, !port.row->cut);
  }
  for (const JournalNode& node : content.nodes) {
    subnet.node(node.node).node_guid = node.guid;
    links.SetNode(node.node, node.on);
    links.SetPlugged(node.node, node.plugged);
  }
  for (const auto& [id, port] : ports.all()) {
    NodePort& restored = subnet.port(id);
    restored.guid = port.row->guid;
    // What is off comes back as after power-on.
    if (!subnet.NodeOf(id).up) continue;
    if (port.row->disabled) {
      links.SetPhysicalState(id, mad::PortPhysicalState::kDisabled);
    }
    if (subnet.management_port(id) != id) continue;
    restored.info.lid = static_cast<wire::Lid>(port.row->lid);
    restored.info.lmc = static_cast<uint8_t>(port.row->lmc);
  }
  return absl::OkStatus();
}

}  // namespace ibemu::daemon
