#include "topology/formats/dot_reader.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "topology/formats/dot_graph.h"
#include "topology/formats/text/attributes.h"
#include "topology/formats/text/draft_builder.h"
#include "topology/formats/text/ibdm_arrow.h"
#include "topology/rate_text.h"
#include "topology/topology_builder.h"

namespace ibemu::topology {
namespace {

using mad::NodeType;

// Returns the text that a renderer makes of a label.
std::string Unescape(std::string_view label, std::string_view node) {
  std::string text;
  for (size_t i = 0; i < label.size(); ++i) {
    if (label[i] != '\\' || i + 1 == label.size()) {
      text += label[i];
      continue;
    }
    const char escaped = label[++i];
    if (escaped == 'N') {
      text += node;
    } else if (escaped == 'n' || escaped == 'l' || escaped == 'r') {
      text += ' ';
    } else {
      text += escaped;
    }
  }
  return text;
}

class DotReader {
 public:
  absl::StatusOr<Topology> Read(std::string_view text, std::string_view file,
                                Progress progress) {
    graph_ = ParseDotGraph(text, faults_.AddFile(file), faults_);
    if (!faults_.empty()) return faults_.ToStatus();

    CountPorts();
    for (size_t i = 0; i < graph_.nodes.size(); ++i) AddNode(i);
    for (size_t i = 0; i < graph_.edges.size(); ++i) AddEdge(i);
    return builder_.Finish(progress);
  }

 private:
  using Ends = std::pair<int, int>;

  // Assigns a port to each end of each edge.  Edges may name ports; all others
  // get the lowest free ones, in the order of the text.
  void CountPorts() {
    std::vector<std::set<int>> used(graph_.nodes.size());
    ports_.resize(graph_.edges.size());
    for (size_t i = 0; i < graph_.edges.size(); ++i) {
      const DotEdge& edge = graph_.edges[i];
      ports_[i] = {NamedPort(edge, edge.tail, "taillabel"),
                   NamedPort(edge, edge.head, "headlabel")};
      used[edge.tail.node].insert(ports_[i].first);
      used[edge.head.node].insert(ports_[i].second);
    }
    degree_.resize(graph_.nodes.size());
    std::vector<int> next(graph_.nodes.size(), 1);
    const auto complete = [&](size_t node, int& port) {
      ++degree_[node];
      if (port != 0) return;
      while (used[node].contains(next[node])) ++next[node];
      port = next[node]++;
      used[node].insert(port);
    };
    highest_.resize(graph_.nodes.size(), 1);
    for (size_t i = 0; i < graph_.edges.size(); ++i) {
      complete(graph_.edges[i].tail.node, ports_[i].first);
      complete(graph_.edges[i].head.node, ports_[i].second);
    }
    for (size_t i = 0; i < used.size(); ++i) {
      if (!used[i].empty()) {
        highest_[i] = std::max(1, *used[i].rbegin());
      }
    }
  }

  // Returns the port that the text names, or 0 if it names none.
  static int NamedPort(const DotEdge& edge, const DotEdge::End& end,
                       std::string_view label) {
    constexpr int kNoSuchPort = 1000;  // reported as a fault later
    int port = 0;
    const auto said = edge.attributes.find(label);
    for (const std::string_view text :
         {std::string_view(end.port), said == edge.attributes.end()
                                          ? std::string_view()
                                          : std::string_view(said->second)}) {
      if (absl::SimpleAtoi(Absl(text), &port)) {
        return port >= 1 && port <= kMaxPorts ? port : kNoSuchPort;
      }
    }
    return 0;
  }

  void AddNode(size_t index) {
    const DotNode& from = graph_.nodes[index];
    NodeSpec node;
    node.name = from.name;
    node.type =
        degree_[index] > 1 ? NodeType::kSwitch : NodeType::kChannelAdapter;
    node.port_count = std::min(highest_[index], kMaxPorts);
    std::string_view label = Attribute(from, "label");
    if (const std::string_view type = Attribute(from, "type"); !type.empty()) {
      const std::optional<NodeType> known = ParseNodeType(type);
      if (!known) Wrong(from, "type", type, kNodeTypeRule);
      node.type = known.value_or(node.type);
    }
    SetDefaultIds(node);
    if (!label.empty()) node.description = Unescape(label, from.name);
    if (const std::string_view ports = Attribute(from, "ports");
        !ports.empty()) {
      const std::optional<uint64_t> count = ParseNumber(ports);
      if (!count || *count < 1 || *count > kMaxPorts) {
        Wrong(from, "ports", ports,
              absl::StrFormat("it is a number from 1 to %d", kMaxPorts));
      } else {
        node.port_count = static_cast<int>(*count);
      }
    }
    ReadPortGuids(from, node);
    for (const auto& [key, value] : from.attributes) {
      std::string rule;
      if (SetNodeKey(key, value, node, rule) == Setting::kBadValue) {
        Wrong(from, key, value, rule);
      }
    }
    ids_.push_back(builder_.AddNode(from.at, std::move(node)));
  }

  void ReadPortGuids(const DotNode& from, NodeSpec& node) {
    for (const std::string_view word :
         SplitWords(Attribute(from, "port_guids"), ",")) {
      const std::optional<uint64_t> guid = ParseNumber(word);
      const size_t most = node.type == NodeType::kSwitch
                              ? 1
                              : static_cast<size_t>(node.port_count);
      if (!guid || node.port_guids.size() == most) {
        return Wrong(from, "port_guids", Attribute(from, "port_guids"),
                     "it is a GUID for each port of an adapter, or one of a "
                     "switch");
      }
      node.port_guids.push_back(wire::Guid{*guid});
    }
  }

  void AddEdge(size_t index) {
    const DotEdge& edge = graph_.edges[index];
    LinkSpec link;
    link.rate = DefaultLinkRate();
    if (const auto label = edge.attributes.find("label");
        label != edge.attributes.end()) {
      link.rate = ParseLinkRate(label->second).value_or(link.rate);
    }
    // To Graphviz "width" is that of a line, and "rate" and "speed" have no
    // meaning.
    for (const auto& [key, value] : edge.attributes) {
      std::string rule;
      if (SetLinkKey(key, value, link, rule) == Setting::kBadValue) {
        faults_.Add(edge.at, absl::StrFormat("%s=\"%s\" of an edge: %s", key,
                                             value, rule));
      }
    }
    const std::optional<NodeId> tail = ids_[edge.tail.node];
    const std::optional<NodeId> head = ids_[edge.head.node];
    if (!tail || !head) return;  // reported already
    builder_.Connect(edge.at, {*tail, ports_[index].first, {}},
                     {*head, ports_[index].second, {}}, link);
  }

  static std::string_view Attribute(const DotNode& node,
                                    std::string_view name) {
    const auto found = node.attributes.find(name);
    return found == node.attributes.end() ? std::string_view()
                                          : std::string_view(found->second);
  }

  void Wrong(const DotNode& node, std::string_view key, std::string_view value,
             std::string_view rule) {
    faults_.Add(node.at, absl::StrFormat("%s=\"%s\" of \"%s\": %s", key, value,
                                         node.name, rule));
  }

  FaultList faults_;
  DraftBuilder builder_{faults_};
  DotGraph graph_;
  std::vector<int> degree_, highest_;  // by node
  std::vector<Ends> ports_;            // by edge
  std::vector<std::optional<NodeId>> ids_;
};

}  // namespace

absl::StatusOr<Topology> ParseDot(std::string_view text, std::string_view file,
                                  Progress progress) {
  return DotReader().Read(text, file, progress);
}

}  // namespace ibemu::topology
