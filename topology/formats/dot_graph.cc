#include "topology/formats/dot_graph.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "topology/formats/dot_scanner.h"

namespace ibemu::topology {
namespace {

constexpr int kMaxSubgraphDepth = 100;
constexpr size_t kMaxEdges = size_t{1} << 20;  // a -- {b c} makes several

class DotParser {
 public:
  DotParser(std::string_view text, int file, FaultList& faults)
      : scanner_(text), file_(file), faults_(faults) {
    Advance();
  }

  DotGraph Parse() {
    if (token_.IsKeyword("strict")) Advance();
    if (!token_.IsKeyword("graph") && !token_.IsKeyword("digraph")) {
      Fault("a file in DOT begins with graph or digraph");
    }
    Advance();
    if (token_.kind == DotToken::Kind::kId) TakeText();
    Statements({}, 0);
    if (!failed_ && token_.kind != DotToken::Kind::kEnd) {
      Fault("a file has one graph, and this stands behind it");
    }
    return std::move(graph_);
  }

 private:
  // The attributes that "node [...]" and "edge [...]" give to all nodes and
  // edges that follow.
  struct Defaults {
    DotAttributes node, edge;
  };
  // The nodes on one side of an edge.  Only a single one can have a port.
  using Side = std::vector<DotEdge::End>;

  void Advance() {
    token_ = scanner_.Next();
    if (token_.kind == DotToken::Kind::kBadByte) Fault(token_.text);
  }

  void Fault(std::string what) {
    if (!failed_) faults_.Add({file_, token_.line}, std::move(what));
    failed_ = true;
  }

  bool Eat(std::string_view sign) {
    if (failed_ || !token_.Is(sign)) return false;
    Advance();
    return true;
  }

  void Expect(std::string_view sign, std::string_view where) {
    if (failed_ || Eat(sign)) return;
    Fault(token_.kind == DotToken::Kind::kEnd
              ? absl::StrFormat("the text ends where %s ends with \"%s\"",
                                where, sign)
              : absl::StrFormat("\"%s\" stands where %s goes on with \"%s\"",
                                token_.text, where, sign));
  }

  // Parses "{ ... }" and returns the nodes in it.
  Side Statements(Defaults defaults, int depth) {
    Side all;
    if (depth > kMaxSubgraphDepth) {
      Fault(absl::StrFormat("subgraphs are nested deeper than %d",
                            kMaxSubgraphDepth));
    }
    Expect("{", "a graph");
    while (!failed_ && !token_.Is("}") && token_.kind != DotToken::Kind::kEnd) {
      if (Eat(";")) continue;
      Side named = Statement(defaults, depth);
      all.insert(all.end(), named.begin(), named.end());
    }
    Expect("}", "a graph");
    return all;
  }

  Side Statement(Defaults& defaults, int depth) {
    DotAttributes passed_over;
    if (token_.IsKeyword("graph")) return Set(passed_over);
    if (token_.IsKeyword("node")) return Set(defaults.node);
    if (token_.IsKeyword("edge")) return Set(defaults.edge);

    const Place at{file_, token_.line};
    std::vector<Side> chain = {OneSide(defaults, depth)};
    if (Eat("=")) {  // a graph attribute: its name is not a node
      TakeValue();
      return {};
    }
    while (Eat("--")) chain.push_back(OneSide(defaults, depth));

    DotAttributes attributes =
        chain.size() > 1 ? defaults.edge : DotAttributes();
    Attributes(attributes);
    if (chain.size() == 1) {
      for (const DotEdge::End& end : chain.front()) {
        for (const auto& [key, value] : attributes) {
          graph_.nodes[end.node].attributes.insert_or_assign(key, value);
        }
      }
    }
    Side all;
    for (const Side& side : chain) {
      all.insert(all.end(), side.begin(), side.end());
    }
    for (size_t i = 1; i < chain.size(); ++i) {
      Connect(at, chain[i - 1], chain[i], attributes);
    }
    return all;
  }

  Side Set(DotAttributes& attributes) {
    Advance();
    Attributes(attributes);
    return {};
  }

  // Parses one side of an edge: a node with its port, or a subgraph.
  Side OneSide(const Defaults& defaults, int depth) {
    if (token_.IsKeyword("subgraph")) {
      Advance();
      if (token_.kind == DotToken::Kind::kId) TakeText();
      if (!token_.Is("{")) Fault("a subgraph has its nodes in { }");
      return Statements(defaults, depth + 1);
    }
    if (token_.Is("{")) return Statements(defaults, depth + 1);
    if (token_.kind != DotToken::Kind::kId) {
      Fault(token_.kind == DotToken::Kind::kEnd
                ? "the text ends where a node's name should be"
                : absl::StrFormat("\"%s\" stands where a node's name should be",
                                  token_.text));
      return {};
    }
    const Place at{file_, token_.line};
    const std::string name = TakeText();
    std::string port;
    if (Eat(":")) {
      port = TakeText();
      if (Eat(":")) TakeText();  // a compass point, for renderers
    }
    if (token_.Is("=")) return {};
    return {{Find(name, at, defaults), std::move(port)}};
  }

  // Returns the index of the node, which is added at its first mention.
  size_t Find(const std::string& name, Place at, const Defaults& defaults) {
    const auto [found, is_new] = names_.try_emplace(name, graph_.nodes.size());
    if (is_new) graph_.nodes.push_back({name, at, defaults.node});
    return found->second;
  }

  void Connect(Place at, const Side& tails, const Side& heads,
               const DotAttributes& attributes) {
    for (const DotEdge::End& tail : tails) {
      for (const DotEdge::End& head : heads) {
        if (failed_) return;
        if (graph_.edges.size() >= kMaxEdges) {
          return Fault(
              absl::StrFormat("there are more than %d edges", kMaxEdges));
        }
        graph_.edges.push_back({at, tail, head, attributes});
      }
    }
  }

  // Parses "[a=b, c=d] [e=f]".
  void Attributes(DotAttributes& attributes) {
    while (Eat("[")) {
      while (!failed_ && !token_.Is("]") &&
             token_.kind != DotToken::Kind::kEnd) {
        if (Eat(";") || Eat(",")) continue;
        const std::string key = TakeText();
        std::string value = "true";
        if (Eat("=")) value = TakeValue();
        attributes.insert_or_assign(key, std::move(value));
      }
      Expect("]", "a list of attributes");
    }
  }

  // Parses an ID.  HTML text, which only a renderer understands, is skipped and
  // gives an empty string.
  std::string TakeValue() {
    if (token_.kind == DotToken::Kind::kHtml) {
      Advance();
      return "";
    }
    return TakeText();
  }

  std::string TakeText() {
    if (failed_) return "";
    if (token_.kind != DotToken::Kind::kId) {
      Fault(
          token_.kind == DotToken::Kind::kEnd
              ? "the text ends where a name or value should be"
              : absl::StrFormat("\"%s\" stands where a name or value should be",
                                token_.text));
      return "";
    }
    std::string text = token_.text;
    const bool may_go_on = token_.quoted;
    Advance();
    while (may_go_on && Eat("+")) {
      if (!token_.quoted || token_.kind != DotToken::Kind::kId) {
        Fault("a text in quotes follows \"+\"");
        break;
      }
      text += token_.text;
      Advance();
    }
    return text;
  }

  DotScanner scanner_;
  const int file_;
  FaultList& faults_;
  DotToken token_;
  bool failed_ = false;
  DotGraph graph_;
  absl::flat_hash_map<std::string, size_t> names_;
};

}  // namespace

DotGraph ParseDotGraph(std::string_view text, int file, FaultList& faults) {
  return DotParser(text, file, faults).Parse();
}

}  // namespace ibemu::topology
