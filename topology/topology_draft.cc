#include "topology/topology_draft.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "topology/draft_addresses.h"
#include "topology/rate_text.h"

namespace ibemu::topology {
namespace {

constexpr uint32_t kNone = 0xffffffff;

class Resolver {
 public:
  Resolver(Draft draft, FaultList& faults, Progress progress)
      : draft_(std::move(draft)), faults_(faults), progress_(progress) {}

  Topology Resolve() {
    PlaceEnds();
    FindPeers();
    CompleteGuids();
    CheckNodeGuids();
    topology_.links.reserve(draft_.ends.size() / 2);
    for (uint32_t i = 0; i < draft_.ends.size(); ++i) Join(i);
    topology_.nodes.reserve(draft_.nodes.size());
    for (DraftNode& node : draft_.nodes) {
      topology_.nodes.push_back(std::move(node.spec));
    }
    ResolveAddresses(draft_, faults_, topology_);
    return std::move(topology_);
  }

 private:
  DraftNode& node(NodeId id) { return draft_.nodes[static_cast<size_t>(id)]; }
  const std::string& NameOf(NodeId id) { return node(id).spec.name; }

  // Returns the slot of a port that exists.
  uint32_t& EndAt(NodeId id, int port) {
    return ends_[first_[static_cast<size_t>(id)] + static_cast<size_t>(port)];
  }

  // Returns `port 3 of "sw1"`.
  std::string PortText(NodeId id, int port) {
    return absl::StrFormat("port %d of \"%s\"", port, NameOf(id));
  }

  bool HasPort(NodeId id, int port, Place at) {
    const int count = node(id).spec.port_count;
    if (port >= 1 && port <= count) return true;
    if (count == 1) {
      faults_.Add(at,
                  PortText(id, port) + " does not exist: it has port 1 only");
    } else {
      faults_.Add(at, absl::StrFormat("%s does not exist: it has ports 1 to %d",
                                      PortText(id, port), count));
    }
    return false;
  }

  void PlaceEnds() {
    first_.reserve(draft_.nodes.size());
    size_t total = 0;
    for (const DraftNode& node : draft_.nodes) {
      first_.push_back(total);
      total += static_cast<size_t>(node.spec.port_count) + 1;
    }
    ends_.assign(total, kNone);

    for (uint32_t i = 0; i < draft_.ends.size(); ++i) {
      DraftEnd& end = draft_.ends[i];
      if (!HasPort(end.node, end.port, end.at)) {
        end.peer = {};
        continue;
      }
      uint32_t& slot = EndAt(end.node, end.port);
      if (slot == kNone) {
        slot = i;
        continue;
      }
      end.peer = {};
      faults_.Add(end.at,
                  absl::StrFormat("%s is used twice: first on %s",
                                  PortText(end.node, end.port),
                                  faults_.Refer(end.at, draft_.ends[slot].at)));
    }
  }

  void FindPeers() {
    peers_.resize(draft_.ends.size(), {NodeId{kNone}, 0});
    for (size_t i = 0; i < draft_.ends.size(); ++i) {
      if (i % 16384 == 0) progress_("linking", i, draft_.ends.size());
      const DraftEnd& end = draft_.ends[i];
      if (end.peer.empty()) continue;
      const DraftPort peer = Find(end);
      if (peer.node == NodeId{kNone} ||
          !HasPort(peer.node, peer.port, end.at)) {
        continue;
      }
      if (peer.node == end.node && peer.port == end.port) {
        faults_.Add(end.at, PortText(end.node, end.port) +
                                " leads to itself: a cable has two ends");
        continue;
      }
      peers_[i] = peer;
    }
  }

  DraftPort Find(const DraftEnd& end) {
    constexpr DraftPort kNowhere{NodeId{kNone}, 0};
    const absl::string_view name = Absl(end.peer);
    if (end.peer.find('@') != std::string_view::npos) {
      const auto alias = draft_.aliases.find(name);
      if (alias != draft_.aliases.end()) return alias->second;
      faults_.Add(end.at,
                  absl::StrFormat("no port has the alias \"%s\"", end.peer));
      return kNowhere;
    }
    if (draft_.faulty.contains(name)) return kNowhere;
    const auto found = draft_.names.find(name);
    if (found != draft_.names.end()) return {found->second, end.peer_port};

    DidYouMean names(end.peer);
    if (faults_.Listens()) {
      for (const DraftNode& node : draft_.nodes) names.Offer(node.spec.name);
    }
    faults_.Add(end.at, absl::StrFormat("no node is named \"%s\"%s", end.peer,
                                        names.Question()));
    return kNowhere;
  }

  // Sets the GUID of each CA port: the one in its line, else the one that the
  // line of the other end gives, else a free one.
  void CompleteGuids() {
    for (const DraftNode& node : draft_.nodes) {
      for (const wire::Guid guid : node.spec.port_guids) {
        if (guid != wire::Guid{}) Take(guid, node.at, node.spec);
      }
    }
    for (size_t i = 0; i < draft_.ends.size(); ++i) {
      const DraftEnd& end = draft_.ends[i];
      if (end.own_guid != wire::Guid{}) Claim(end.node, end.port, i);
    }
    for (size_t i = 0; i < draft_.ends.size(); ++i) {
      const auto [peer, port] = peers_[i];
      if (draft_.ends[i].peer_guid == wire::Guid{} || peer == NodeId{kNone}) {
        continue;
      }
      CheckPeerGuid(draft_.ends[i], peer, port);
    }
    for (size_t i = 0; i < draft_.nodes.size(); ++i) {
      NodeSpec& spec = draft_.nodes[i].spec;
      if (spec.type == mad::NodeType::kSwitch) continue;
      for (int port = 1; port <= spec.port_count; ++port) {
        wire::Guid& guid = PortGuid(spec, port);
        if (guid != wire::Guid{}) continue;
        // A GUID that the line of a neighbour has claimed is skipped.
        uint64_t wanted =
            static_cast<uint64_t>(spec.node_guid) + static_cast<uint64_t>(port);
        while (wanted == 0 || !port_guids_.insert(wanted).second) ++wanted;
        guid = wire::Guid{wanted};
      }
    }
  }

  static wire::Guid& PortGuid(NodeSpec& spec, int port) {
    auto& guids = spec.port_guids;
    if (guids.empty()) guids.resize(static_cast<size_t>(spec.port_count));
    return guids[static_cast<size_t>(port) - 1];
  }

  void Claim(NodeId id, int port, size_t end_index) {
    const DraftEnd& end = draft_.ends[end_index];
    NodeSpec& spec = node(id).spec;
    if (spec.type == mad::NodeType::kSwitch) return;  // its ports have no GUIDs
    if (port < 1 || port > spec.port_count) return;   // reported already
    if (EndAt(id, port) != end_index) return;         // reported already
    if (Take(end.own_guid, end.at, spec)) PortGuid(spec, port) = end.own_guid;
  }

  bool Take(wire::Guid guid, Place at, const NodeSpec& owner) {
    const auto number = static_cast<uint64_t>(guid);
    if (port_guids_.insert(number).second) return true;
    faults_.Add(at, absl::StrFormat("port GUID 0x%x of \"%s\" is taken: no two "
                                    "ports have the same",
                                    number, owner.name));
    return false;
  }

  void CheckPeerGuid(const DraftEnd& end, NodeId peer, int port) {
    NodeSpec& spec = node(peer).spec;
    if (spec.type == mad::NodeType::kSwitch) return;
    wire::Guid& guid = PortGuid(spec, port);
    if (guid == end.peer_guid) return;
    const auto said = static_cast<uint64_t>(end.peer_guid);
    if (guid != wire::Guid{}) {
      faults_.Add(end.at, absl::StrFormat("%s has GUID 0x%x here, but 0x%x on "
                                          "%s",
                                          PortText(peer, port), said,
                                          static_cast<uint64_t>(guid),
                                          WhereIs(end.at, peer, port)));
      return;
    }
    if (Take(end.peer_guid, end.at, spec)) guid = end.peer_guid;
  }

  std::string WhereIs(Place from, NodeId id, int port) {
    const uint32_t end = EndAt(id, port);
    return faults_.Refer(from,
                         end == kNone ? node(id).at : draft_.ends[end].at);
  }

  void CheckNodeGuids() {
    absl::flat_hash_map<uint64_t, size_t> owners;
    owners.reserve(draft_.nodes.size());
    for (size_t i = 0; i < draft_.nodes.size(); ++i) {
      const DraftNode& node = draft_.nodes[i];
      const auto guid = static_cast<uint64_t>(node.spec.node_guid);
      const auto [owner, fresh] = owners.try_emplace(guid, i);
      if (fresh) continue;
      const DraftNode& first = draft_.nodes[owner->second];
      faults_.Add(node.guid_at,
                  absl::StrFormat("node GUID 0x%x of \"%s\" is taken: \"%s\" "
                                  "on %s has it",
                                  guid, node.spec.name, first.spec.name,
                                  faults_.Refer(node.guid_at, first.guid_at)));
    }
  }

  // Makes the cable whose first end is ends_[i].
  void Join(uint32_t i) {
    const auto [peer, port] = peers_[i];
    if (peer == NodeId{kNone}) return;
    const DraftEnd& end = draft_.ends[i];
    const uint32_t other = EndAt(peer, port);
    if (other == kNone) {
      faults_.Add(
          end.at,
          absl::StrFormat("%s leads to %s, which does not lead back: a cable "
                          "is listed at both ends",
                          PortText(end.node, end.port), PortText(peer, port)));
      return;
    }
    if (draft_.ends[other].is_alias) {
      JoinAlias(end, draft_.ends[other]);
      return;
    }
    if (peers_[other].node == NodeId{kNone}) return;  // reported already
    const DraftEnd& back = draft_.ends[other];
    if (peers_[other].node != end.node || peers_[other].port != end.port) {
      faults_.Add(
          end.at,
          absl::StrFormat("%s leads to %s, but %s leads that to %s",
                          PortText(end.node, end.port), PortText(peer, port),
                          faults_.Refer(end.at, back.at),
                          PortText(peers_[other].node, peers_[other].port)));
      return;
    }
    if (i < other) AddLink(end, back);
  }

  // The first end that names a port by its alias is connected to it.
  void JoinAlias(const DraftEnd& end, DraftEnd& back) {
    back.is_alias = false;
    peers_[EndAt(back.node, back.port)] = {end.node, end.port};
    AddLink(end, back);
  }

  void AddLink(const DraftEnd& a, const DraftEnd& b) {
    const std::optional<LinkRate> rate = CommonLinkRate(a.rate, b.rate);
    if (!rate) {
      faults_.Add(
          a.at, absl::StrFormat("%s runs at %s, but %s at %s on %s",
                                PortText(a.node, a.port), LinkRateName(a.rate),
                                PortText(b.node, b.port), LinkRateName(b.rate),
                                faults_.Refer(a.at, b.at)));
      return;
    }
    topology_.links.push_back({a.node, b.node, static_cast<uint8_t>(a.port),
                               static_cast<uint8_t>(b.port), *rate, a.length,
                               a.down});
  }

  Draft draft_;
  FaultList& faults_;
  Progress progress_;
  Topology topology_;
  std::vector<size_t> first_;     // by node: its slots in ends_
  std::vector<uint32_t> ends_;    // by port: index of its DraftEnd
  std::vector<DraftPort> peers_;  // by index of a DraftEnd: its peer
  absl::flat_hash_set<uint64_t> port_guids_;
};

}  // namespace

Topology ResolveDraft(Draft draft, FaultList& faults, Progress progress) {
  return Resolver(std::move(draft), faults, progress).Resolve();
}

}  // namespace ibemu::topology
