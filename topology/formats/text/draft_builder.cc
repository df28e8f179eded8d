#include "topology/formats/text/draft_builder.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "topology/topology_builder.h"

namespace ibemu::topology {

void SetDefaultIds(NodeSpec& node) {
  node.vendor_id = kGeneratedVendorId;
  node.device_id = node.type == mad::NodeType::kSwitch
                       ? kGeneratedSwitchDeviceId
                       : kGeneratedHostDeviceId;
}

std::string_view DraftBuilder::Keep(std::string text) {
  return draft_.texts.emplace_back(std::move(text));
}

std::optional<NodeId> DraftBuilder::AddNode(Place at, NodeSpec spec) {
  if (spec.name.empty()) {
    faults_.Add(at, "this node has no name");
    return std::nullopt;
  }
  if (spec.port_count < 1 || spec.port_count > kMaxPorts) {
    faults_.Add(at, absl::StrFormat("\"%s\" has no proper number of ports: it "
                                    "is from 1 to %d",
                                    spec.name, kMaxPorts));
    return std::nullopt;
  }
  if (spec.description.empty()) spec.description = spec.name;
  if (spec.description.size() > kMaxDescription) {
    faults_.Add(at, absl::StrFormat("the description of \"%s\" has %d bytes: "
                                    "at most %d fit",
                                    spec.name, spec.description.size(),
                                    kMaxDescription));
    return std::nullopt;
  }
  const bool is_switch = spec.type == mad::NodeType::kSwitch;
  const size_t guids = is_switch ? 1 : static_cast<size_t>(spec.port_count);
  if (spec.port_guids.size() > guids) {
    faults_.Add(at, absl::StrFormat("\"%s\" has %d port GUIDs, but place for "
                                    "%d: a switch has one for all its ports",
                                    spec.name, spec.port_guids.size(), guids));
    return std::nullopt;
  }
  const NodeId id{static_cast<uint32_t>(draft_.nodes.size())};
  const std::string_view name = Keep(spec.name);
  const auto [known, is_new] = draft_.names.try_emplace(Absl(name), id);
  if (!is_new) {
    faults_.Add(
        at, absl::StrFormat(
                "\"%s\" is defined twice: first on %s", spec.name,
                faults_.Refer(
                    at, draft_.nodes[static_cast<size_t>(known->second)].at)));
    return std::nullopt;
  }
  spec.line = at.line;
  spec.port_guids.resize(guids);
  if (is_switch && spec.port_guids[0] == wire::Guid{}) {
    spec.port_guids[0] = spec.node_guid;
  }
  draft_.nodes.push_back({std::move(spec), at, at});
  names_.push_back(name);
  return id;
}

void DraftBuilder::AddAddress(Place at, NodeId node, int port,
                              std::string text) {
  draft_.addresses.push_back({at, node, port, Keep(std::move(text))});
}

void DraftBuilder::Connect(Place at, End a, End b, const LinkSpec& cable) {
  const auto back = told_.find({b.node, b.port, a.node, a.port});
  if (back != told_.end() && back->second > 0) {
    --back->second;  // a third time would be a fault
    return;
  }
  ++told_[{a.node, a.port, b.node, b.port}];
  AddEnd(at, a, b, cable);
  const bool is_loop = a.node == b.node && a.port == b.port;
  if (!is_loop) AddEnd(at, b, a, cable);
}

void DraftBuilder::AddEnd(Place at, const End& own, const End& peer,
                          const LinkSpec& cable) {
  DraftEnd& end = draft_.ends.emplace_back();
  end.node = own.node;
  end.port = own.port;
  end.at = at;
  end.peer = names_[static_cast<size_t>(peer.node)];
  end.peer_port = peer.port;
  end.rate = cable.rate;
  end.length = cable.length;
  end.down = cable.down;
  end.own_guid = own.guid;
  end.peer_guid = peer.guid;
}

// Uses the GUIDs that a generator would, except those that the text has.
void DraftBuilder::CompleteNodeGuids() {
  absl::flat_hash_set<uint64_t> taken;
  for (const DraftNode& node : draft_.nodes) {
    taken.insert(static_cast<uint64_t>(node.spec.node_guid));
  }
  uint64_t hosts = 0;
  uint64_t switches = 0;
  for (DraftNode& node : draft_.nodes) {
    NodeSpec& spec = node.spec;
    if (spec.node_guid != wire::Guid{}) continue;
    const bool is_switch = spec.type == mad::NodeType::kSwitch;
    uint64_t guid = 0;
    do {
      guid = is_switch ? kSwitchGuids | (++switches << 8)
                       : kHostGuids | (++hosts << 8);
    } while (!taken.insert(guid).second);
    spec.node_guid = wire::Guid{guid};
    if (is_switch && spec.port_guids[0] == wire::Guid{}) {
      spec.port_guids[0] = spec.node_guid;
    }
  }
}

absl::StatusOr<Topology> DraftBuilder::Finish(Progress progress) {
  if (draft_.nodes.empty() && faults_.empty()) {
    faults_.Add({0, 1}, "there is no node in this file");
  }
  CompleteNodeGuids();
  Topology topology = ResolveDraft(std::move(draft_), faults_, progress);
  absl::Status status = faults_.ToStatus();
  if (!status.ok()) return status;
  return topology;
}

}  // namespace ibemu::topology
