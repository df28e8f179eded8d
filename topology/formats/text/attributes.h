// What DOT and YAML files call the properties of nodes and cables.
#ifndef IBEMU_TOPOLOGY_FORMATS_TEXT_ATTRIBUTES_H_
#define IBEMU_TOPOLOGY_FORMATS_TEXT_ATTRIBUTES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "topology/topology.h"

namespace ibemu::topology {

// "0x2c9" or decimal.
std::optional<uint64_t> ParseNumber(std::string_view text);

enum class Setting {
  kDone,
  kUnknownKey,
  kBadValue,
};

// The keys that a node has, but for its name, type, ports and port GUIDs.
std::span<const std::string_view> NodeKeys();
// `rule` says what the value should have been.
Setting SetNodeKey(std::string_view key, std::string_view value, NodeSpec& node,
                   std::string& rule);

std::optional<mad::NodeType> ParseNodeType(std::string_view text);
std::string_view NodeTypeName(mad::NodeType type);
inline constexpr std::string_view kNodeTypeRule =
    "it is one of ca, switch, router";

// What exported files call a node: its name, or what ibnetdiscover makes of its
// GUID if the name is more than printable ASCII.
std::string ExportName(const NodeSpec& node);

// The keys that a cable has, but for its ends.
std::span<const std::string_view> LinkKeys();
Setting SetLinkKey(std::string_view key, std::string_view value, LinkSpec& link,
                   std::string& rule);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_TEXT_ATTRIBUTES_H_
