#include "topology/formats/spec_writer.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/absl_text.h"
#include "nlohmann/json.hpp"
#include "topology/formats/text/attributes.h"
#include "topology/rate_text.h"
#include "wire/ip_text.h"

namespace ibemu::topology {
namespace {

using mad::NodeType;
using nlohmann::json;

enum class Style { kJson, kYaml };

// Returns a quoted string of JSON, which is one of YAML as well.  Control
// characters become blanks, as in ibnetdiscover's output, and so do non-ASCII
// bytes if the text is not UTF-8.
std::string Quote(std::string text) {
  for (char& c : text) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = ' ';
  }
  try {
    return json(text).dump();
  } catch (const json::type_error&) {
    for (char& c : text) {
      if (!absl::ascii_isascii(static_cast<unsigned char>(c))) c = ' ';
    }
    return json(text).dump();
  }
}

std::string Hex(uint64_t number) { return absl::StrFormat("\"0x%x\"", number); }
std::string Hex(wire::Guid guid) { return Hex(static_cast<uint64_t>(guid)); }

// A map that is written on one line.
class Item {
 public:
  explicit Item(Style style) : style_(style) {}

  void Add(std::string_view key, std::string_view value) {
    absl::StrAppend(
        &text_, text_.empty() ? "{" : ", ",
        style_ == Style::kJson ? Quote(std::string(key)) : std::string(key),
        ": ", Absl(value));
  }
  void AddText(std::string_view key, std::string_view value) {
    if (!value.empty()) Add(key, Quote(std::string(value)));
  }

  std::string Take() { return text_ + "}"; }

 private:
  Style style_;
  std::string text_;
};

// Returns true if a reader would make the same port GUIDs.
bool HasUsualPortGuids(const NodeSpec& node) {
  if (node.type == NodeType::kSwitch) {
    return node.port_guids.empty() || node.port_guids[0] == node.node_guid;
  }
  auto guid = static_cast<uint64_t>(node.node_guid);
  for (const wire::Guid port : node.port_guids) {
    if (static_cast<uint64_t>(port) != ++guid) return false;
  }
  return true;
}

std::string FormatNode(const NodeSpec& node, Style style) {
  Item item(style);
  item.Add("name", Quote(ExportName(node)));
  item.AddText("type", NodeTypeName(node.type));
  item.Add("ports", absl::StrCat(node.port_count));
  if (node.description != ExportName(node)) {
    item.AddText("description", node.description);
  }
  item.Add("guid", Hex(node.node_guid));
  if (node.system_image_guid != wire::Guid{} &&
      node.system_image_guid != node.node_guid) {
    item.Add("system_image_guid", Hex(node.system_image_guid));
  }
  if (!HasUsualPortGuids(node)) {
    item.Add("port_guids",
             absl::StrCat("[",
                          absl::StrJoin(node.port_guids, ", ",
                                        [](std::string* out, wire::Guid guid) {
                                          out->append(Hex(guid));
                                        }),
                          "]"));
  }
  item.Add("vendor_id", Hex(uint64_t{node.vendor_id}));
  item.Add("device_id", Hex(uint64_t{node.device_id}));
  if (node.enhanced_port_0) item.Add("enhanced_port_0", "true");
  if (node.label != nullptr) {
    item.AddText("firmware", node.label->firmware);
    item.AddText("hardware", node.label->hardware);
    item.AddText("board_id", node.label->board_id);
    item.AddText("hca_type", node.label->hca_type);
  }
  ForEachLimit(node, [&item](std::string_view name, uint64_t value) {
    item.Add(name, absl::StrCat(value));
  });
  return item.Take();
}

std::string FormatLink(const Topology& topology, const LinkSpec& link,
                       Style style) {
  const auto end = [&topology](NodeId node, int port) {
    return Quote(absl::StrCat(ExportName(topology.node(node)), "/", port));
  };
  Item item(style);
  item.Add("a", end(link.a, link.port_a));
  item.Add("b", end(link.b, link.port_b));
  item.AddText("rate", LinkRateName(link.rate));
  if (link.length != 0) item.Add("length", absl::StrCat(link.length));
  if (link.down) item.Add("down", "true");
  return item.Take();
}

// Returns `"H-021be00100000100/1": ["10.1.0.1/16"]`.
std::string FormatAddresses(const Topology& topology,
                            const PortAddresses& port) {
  std::vector<std::string> texts;
  for (const wire::IpNetwork& network : port.networks) {
    texts.push_back(Quote(NetworkText(network)));
  }
  return absl::StrCat(Quote(absl::StrCat(ExportName(topology.node(port.node)),
                                         "/", static_cast<int>(port.port))),
                      ": [", absl::StrJoin(texts, ", "), "]");
}

}  // namespace

std::string FormatSpecJson(const Topology& topology) {
  std::string text = "{\n \"nodes\": [";
  const char* separator = "\n  ";
  for (const NodeSpec& node : topology.nodes) {
    absl::StrAppend(&text, separator, FormatNode(node, Style::kJson));
    separator = ",\n  ";
  }
  text += "\n ],\n \"links\": [";
  separator = "\n  ";
  for (const LinkSpec& link : topology.links) {
    absl::StrAppend(&text, separator, FormatLink(topology, link, Style::kJson));
    separator = ",\n  ";
  }
  text += "\n ]";
  separator = ",\n \"addresses\": {\n  ";
  for (const PortAddresses& port : topology.addresses) {
    absl::StrAppend(&text, separator, FormatAddresses(topology, port));
    separator = ",\n  ";
  }
  return text + (topology.addresses.empty() ? "\n}\n" : "\n }\n}\n");
}

std::string FormatSpecYaml(const Topology& topology) {
  std::string text = "# Generated by ibemu: see ibemu-topology(5).\nnodes:\n";
  for (const NodeSpec& node : topology.nodes) {
    absl::StrAppend(&text, "  - ", FormatNode(node, Style::kYaml), "\n");
  }
  text += "links:\n";
  for (const LinkSpec& link : topology.links) {
    absl::StrAppend(&text, "  - ", FormatLink(topology, link, Style::kYaml),
                    "\n");
  }
  if (!topology.addresses.empty()) text += "addresses:\n";
  for (const PortAddresses& port : topology.addresses) {
    absl::StrAppend(&text, "  ", FormatAddresses(topology, port), "\n");
  }
  return text;
}

}  // namespace ibemu::topology
