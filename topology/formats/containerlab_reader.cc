#include "topology/formats/containerlab_reader.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "topology/fault_list.h"
#include "topology/formats/spec/spec_checks.h"
#include "topology/formats/spec/spec_value.h"
#include "topology/formats/text/attributes.h"
#include "topology/formats/text/draft_builder.h"
#include "topology/rate_text.h"

namespace ibemu::topology {
namespace {

using mad::NodeType;

constexpr std::string_view kHostKind = "linux";
constexpr std::string_view kTypeLabel = "ibemu.type";
constexpr std::string_view kLinkExample =
    "- endpoints: [\"leaf1:e1-1\", "
    "\"host1:eth1\"]";
// What stands for a node at the end of a link that leaves the lab.
constexpr std::string_view kOutside[] = {"host", "macvlan", "mgmt-net", "vxlan",
                                         "vxlan-stitch"};
// The type of a link that does not; others have one end.
constexpr std::string_view kInsideType = "veth";

struct LabNode {
  std::string name;
  NodeType type = NodeType::kSwitch;
  Place at;
  std::vector<std::string> interfaces;  // those of its links
};

struct LabEnd {
  size_t node = 0;
  size_t interface = 0;  // indexes into the node's
};

struct LabLink {
  Place at;
  LabEnd ends[2];
};

// Returns the number at the end of an interface's name, 0 if there is none.
int TrailingNumber(std::string_view interface) {
  size_t begin = interface.size();
  while (begin > 0 && absl::ascii_isdigit(
                          static_cast<unsigned char>(interface[begin - 1]))) {
    --begin;
  }
  int number = 0;
  if (!absl::SimpleAtoi(Absl(interface.substr(begin)), &number)) return 0;
  return number;
}

// Returns the port of each interface.
std::vector<int> PortsOf(const LabNode& node) {
  std::vector<int> ports;
  std::set<int> used;
  for (const std::string& interface : node.interfaces) {
    const int port = TrailingNumber(interface);
    if (port >= 1 && port <= kMaxPorts) used.insert(port);
    ports.push_back(port);
  }
  if (used.size() == ports.size()) return ports;
  for (size_t i = 0; i < ports.size(); ++i) ports[i] = static_cast<int>(i) + 1;
  return ports;
}

class ContainerlabReader {
 public:
  absl::StatusOr<Topology> Read(std::string_view text, std::string_view file,
                                Progress progress) {
    const SpecValue root = ParseSpecValue(text, faults_.AddFile(file), faults_);
    if (!faults_.empty()) return faults_.ToStatus();
    const SpecValue* topology = Map(root, "topology");
    if (topology == nullptr) {
      faults_.Add({0, 1},
                  "a lab of containerlab is a map whose key topology is a map "
                  "with nodes and links");
      return faults_.ToStatus();
    }
    ReadNodes(*topology);
    for (const SpecValue* link :
         checks_.Maps(*topology, "links", kLinkExample)) {
      ReadLink(*link);
    }
    if (!faults_.empty()) return faults_.ToStatus();
    return Build(progress);
  }

 private:
  // Returns the map `key`, or null if there is none.
  static const SpecValue* Map(const SpecValue& map, std::string_view key) {
    const SpecEntry* entry = map.Find(key);
    return entry != nullptr && entry->value.kind == SpecValue::Kind::kMap
               ? &entry->value
               : nullptr;
  }

  void ReadNodes(const SpecValue& topology) {
    const SpecEntry* nodes = topology.Find("nodes");
    if (nodes == nullptr || nodes->value.kind != SpecValue::Kind::kMap) {
      faults_.Add(nodes == nullptr ? topology.at : nodes->at,
                  "nodes is a map of names to nodes");
      return;
    }
    for (const SpecEntry& entry : nodes->value.entries) {
      by_name_.emplace(entry.key, nodes_.size());
      nodes_.push_back({entry.key, TypeOf(topology, entry), entry.at, {}});
    }
  }

  // What is said of a node itself comes before what its group, its kind and the
  // defaults say.
  NodeType TypeOf(const SpecValue& topology, const SpecEntry& node) {
    if (node.value.kind != SpecValue::Kind::kMap &&
        node.value.kind != SpecValue::Kind::kNull) {
      checks_.BadValue(node, "a node is a map, as in {kind: linux}");
      return NodeType::kSwitch;
    }
    const SpecValue* const defaults = Map(topology, "defaults");
    std::vector<const SpecValue*> said = {&node.value};
    AddNamed(topology, "groups", checks_.Text(node.value, "group"), said);
    const std::string kind = KindIn(said).value_or(
        defaults == nullptr ? ""
                            : checks_.Text(*defaults, "kind").value_or(""));
    AddNamed(topology, "kinds", kind, said);
    if (defaults != nullptr) said.push_back(defaults);
    for (const SpecValue* map : said) {
      const SpecValue* const labels = Map(*map, "labels");
      if (labels == nullptr) continue;
      if (const auto label = checks_.Text(*labels, kTypeLabel)) {
        const std::optional<NodeType> type = ParseNodeType(*label);
        if (!type) checks_.BadValue(*labels->Find(kTypeLabel), kNodeTypeRule);
        return type.value_or(NodeType::kSwitch);
      }
    }
    return kind == kHostKind ? NodeType::kChannelAdapter : NodeType::kSwitch;
  }

  // Adds what topology has as `name` in its map `key`, if it has it.
  static void AddNamed(const SpecValue& topology, const char* key,
                       const std::optional<std::string>& name,
                       std::vector<const SpecValue*>& said) {
    const SpecValue* const all = Map(topology, key);
    const SpecValue* const one =
        all != nullptr && name ? Map(*all, *name) : nullptr;
    if (one != nullptr) said.push_back(one);
  }

  std::optional<std::string> KindIn(const std::vector<const SpecValue*>& said) {
    for (const SpecValue* map : said) {
      if (auto kind = checks_.Text(*map, "kind")) return kind;
    }
    return std::nullopt;
  }

  void ReadLink(const SpecValue& map) {
    if (checks_.Text(map, "type").value_or(std::string(kInsideType)) !=
        kInsideType) {
      return;
    }
    const SpecEntry* ends = map.Find("endpoints");
    if (ends == nullptr || ends->value.items.size() != 2) {
      faults_.Add(map.at, absl::StrFormat("a link has two endpoints: %s",
                                          kLinkExample));
      return;
    }
    LabLink link;
    link.at = map.at;
    for (size_t i = 0; i < 2; ++i) {
      const std::optional<LabEnd> end = ReadEnd(ends->value.items[i]);
      if (!end) return;
      link.ends[i] = *end;
    }
    links_.push_back(link);
  }

  // Returns nothing of an end that leads out of the lab, or is a fault.
  std::optional<LabEnd> ReadEnd(const SpecValue& end) {
    std::string name, interface;
    if (end.kind == SpecValue::Kind::kMap) {
      name = checks_.Text(end, "node").value_or("");
      interface = checks_.Text(end, "interface").value_or("");
    } else if (const size_t colon = end.text.find(':');
               colon != end.text.npos) {
      name = end.text.substr(0, colon);
      interface = end.text.substr(colon + 1);
    }
    if (name.empty() || interface.empty()) {
      faults_.Add(
          end.at,
          absl::StrFormat("an endpoint is a node and its "
                          "interface, as in \"leaf1:e1-1\"%s",
                          end.text.empty() ? "" : ": \"" + end.text + "\""));
      return std::nullopt;
    }
    const auto known = by_name_.find(name);
    if (known == by_name_.end()) {
      if (std::ranges::find(kOutside, name) != std::end(kOutside)) {
        return std::nullopt;
      }
      DidYouMean names(name);
      for (const LabNode& node : nodes_) names.Offer(node.name);
      faults_.Add(end.at, absl::StrFormat("there is no node \"%s\"%s", name,
                                          names.Question()));
      return std::nullopt;
    }
    std::vector<std::string>& interfaces = nodes_[known->second].interfaces;
    if (interfaces.size() == kMaxPorts) {
      faults_.Add(end.at, absl::StrFormat(
                              "\"%s\" has more links than a node has ports: "
                              "it can have %d",
                              name, kMaxPorts));
      return std::nullopt;
    }
    if (std::ranges::find(interfaces, interface) != interfaces.end()) {
      faults_.Add(end.at, absl::StrFormat("interface %s of \"%s\" has a link "
                                          "already: it can have one",
                                          interface, name));
      return std::nullopt;
    }
    interfaces.push_back(std::move(interface));
    return LabEnd{known->second, interfaces.size() - 1};
  }

  absl::StatusOr<Topology> Build(Progress progress) {
    DraftBuilder builder(faults_);
    std::vector<std::optional<NodeId>> ids;
    std::vector<std::vector<int>> ports;
    for (const LabNode& node : nodes_) {
      ports.push_back(PortsOf(node));
      NodeSpec spec;
      spec.name = node.name;
      spec.type = node.type;
      spec.port_count =
          ports.back().empty() ? 1 : std::ranges::max(ports.back());
      SetDefaultIds(spec);
      ids.push_back(builder.AddNode(node.at, std::move(spec)));
    }
    for (const LabLink& link : links_) {
      DraftBuilder::End ends[2];
      bool known = true;
      for (size_t i = 0; i < 2; ++i) {
        const auto [node, interface] = link.ends[i];
        known = known && ids[node];
        if (known) ends[i] = {*ids[node], ports[node][interface], {}};
      }
      if (!known) continue;  // reported already
      LinkSpec cable;
      cable.rate = DefaultLinkRate();
      builder.Connect(link.at, ends[0], ends[1], cable);
    }
    return builder.Finish(progress);
  }

  FaultList faults_;
  SpecChecks checks_{faults_};
  std::vector<LabNode> nodes_;
  absl::flat_hash_map<std::string, size_t> by_name_;
  std::vector<LabLink> links_;
};

}  // namespace

absl::StatusOr<Topology> ParseContainerlab(std::string_view text,
                                           std::string_view file,
                                           Progress progress) {
  return ContainerlabReader().Read(text, file, progress);
}

}  // namespace ibemu::topology
