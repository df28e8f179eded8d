// The keys and values by which DOT and YAML files describe nodes and cables.
#ifndef IBEMU_TOPOLOGY_FORMATS_TEXT_ATTRIBUTES_H_
#define IBEMU_TOPOLOGY_FORMATS_TEXT_ATTRIBUTES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "topology/topology.h"

namespace ibemu::topology {

// Parses a decimal number, or a hexadecimal one such as "0x2c9".
std::optional<uint64_t> ParseNumber(std::string_view text);

// The result of setting a property.
enum class Setting {
  kDone,
  kUnknownKey,
  kBadValue,
};

// Sets a property of a node: any but its name, type, ports and port GUIDs.  On
// kBadValue, `rule` describes the valid values.  REQUIRES: the node has its
// type.
Setting SetNodeKey(std::string_view key, std::string_view value, NodeSpec& node,
                   std::string& rule);

// Returns null if no limit has this name.
const DeviceLimit* FindLimit(std::string_view name);

// Returns these keys of nodes, and the names of limits.
std::vector<std::string_view> WithLimits(
    std::span<const std::string_view> keys);

// Calls `told` with the name and the value of each limit that the node has and
// others do not.
void ForEachLimit(
    const NodeSpec& node,
    absl::FunctionRef<void(std::string_view name, uint64_t value)> told);

std::optional<mad::NodeType> ParseNodeType(std::string_view text);
std::string_view NodeTypeName(mad::NodeType type);
inline constexpr std::string_view kNodeTypeRule =
    "it is one of ca, switch, router";

// Returns the name of a node in exported files: its own, or the one that
// ibnetdiscover makes of its GUID if its own is empty or not printable ASCII.
std::string ExportName(const NodeSpec& node);

// Returns the keys of a cable, except for its ends.
std::span<const std::string_view> LinkKeys();
// Sets a property of a cable, as SetNodeKey() does.
Setting SetLinkKey(std::string_view key, std::string_view value, LinkSpec& link,
                   std::string& rule);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_TEXT_ATTRIBUTES_H_
