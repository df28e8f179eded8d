#include "topology/formats/text/attributes.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "topology/rate_text.h"
#include "topology/topology_builder.h"

namespace ibemu::topology {
namespace {

using mad::NodeType;

constexpr std::string_view kLinkKeys[] = {"rate", "width", "speed", "length",
                                          "down"};

std::optional<bool> ParseFlag(std::string_view text) {
  if (text == "true" || text == "yes" || text == "1") return true;
  if (text == "false" || text == "no" || text == "0") return false;
  return std::nullopt;
}

// Sets `number` to a value of at most `highest`.
template <typename T>
Setting SetNumber(std::string_view text, uint64_t highest, T& number,
                  std::string& rule) {
  const std::optional<uint64_t> value = ParseNumber(text);
  if (!value || *value > highest) {
    rule = absl::StrFormat("it is a number from 0 to 0x%x", highest);
    return Setting::kBadValue;
  }
  number = static_cast<T>(*value);
  return Setting::kDone;
}

Setting SetGuid(std::string_view text, wire::Guid& guid, std::string& rule) {
  const std::optional<uint64_t> value = ParseNumber(text);
  if (!value || *value == 0) {
    rule = "it is a GUID other than 0, as in 0x2c90300000001";
    return Setting::kBadValue;
  }
  guid = wire::Guid{*value};
  return Setting::kDone;
}

Setting SetFlag(std::string_view text, bool& flag, std::string& rule) {
  const std::optional<bool> value = ParseFlag(text);
  if (!value) {
    rule = "it is true or false";
    return Setting::kBadValue;
  }
  flag = *value;
  return Setting::kDone;
}

// Sets a text that sysfs shows, which must be one line of plain text.
Setting SetLabel(std::string_view text, std::string mad::DeviceLabel::*field,
                 NodeSpec& node, std::string& rule) {
  constexpr size_t kLongest = 64;
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  };
  if (text.size() > kLongest || std::ranges::any_of(text, is_control)) {
    rule = absl::StrFormat("it is one line of at most %d bytes", kLongest);
    return Setting::kBadValue;
  }
  mad::DeviceLabel label = node.label ? *node.label : mad::DeviceLabel();
  label.*field = text;
  node.label = std::make_shared<const mad::DeviceLabel>(std::move(label));
  return Setting::kDone;
}

// Lowers a limit of an adapter.
Setting SetLimit(std::string_view text, const DeviceLimit& limit,
                 NodeSpec& node, std::string& rule) {
  if (node.type != NodeType::kChannelAdapter) {
    rule = "only channel adapters have limits of verbs";
    return Setting::kBadValue;
  }
  const std::optional<uint64_t> value = ParseNumber(text);
  if (!value || *value == 0 || *value > limit.Most()) {
    rule = absl::StrFormat("it is a number from 1 to %d", limit.Most());
    return Setting::kBadValue;
  }
  DeviceLimits limits = node.limits ? *node.limits : DeviceLimits();
  limits.*limit.value = *value;
  node.limits = std::make_shared<const DeviceLimits>(limits);
  return Setting::kDone;
}

}  // namespace

std::optional<uint64_t> ParseNumber(std::string_view text) {
  uint64_t value = 0;
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  const bool is_right = is_hex
                            ? absl::SimpleHexAtoi(Absl(text.substr(2)), &value)
                            : absl::SimpleAtoi(Absl(text), &value);
  // Both functions also accept white space and signs, which are errors here.
  constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
  if (!is_right || kDigits.find(text[is_hex ? 2 : 0]) == kDigits.npos ||
      kDigits.find(text.back()) == kDigits.npos) {
    return std::nullopt;
  }
  return value;
}

std::span<const std::string_view> LinkKeys() { return kLinkKeys; }

std::optional<NodeType> ParseNodeType(std::string_view text) {
  if (text == "ca" || text == "hca") return NodeType::kChannelAdapter;
  if (text == "switch") return NodeType::kSwitch;
  if (text == "router") return NodeType::kRouter;
  return std::nullopt;
}

std::string_view NodeTypeName(NodeType type) {
  return type == NodeType::kSwitch   ? "switch"
         : type == NodeType::kRouter ? "router"
                                     : "ca";
}

std::string ExportName(const NodeSpec& node) {
  const bool is_plain = std::ranges::all_of(node.name, [](char c) {
    return absl::ascii_isprint(static_cast<unsigned char>(c));
  });
  return is_plain && !node.name.empty()
             ? node.name
             : CanonicalName(node.type, node.node_guid);
}

Setting SetNodeKey(std::string_view key, std::string_view value, NodeSpec& node,
                   std::string& rule) {
  if (key == "description") {
    node.description = value;
    return Setting::kDone;
  }
  if (key == "guid") return SetGuid(value, node.node_guid, rule);
  if (key == "system_image_guid") {
    return SetGuid(value, node.system_image_guid, rule);
  }
  if (key == "vendor_id") {
    return SetNumber(value, 0xffffff, node.vendor_id, rule);
  }
  if (key == "device_id") return SetNumber(value, 0xffff, node.device_id, rule);
  if (key == "enhanced_port_0") {
    return SetFlag(value, node.enhanced_port_0, rule);
  }
  if (key == "firmware")
    return SetLabel(value, &mad::DeviceLabel::firmware, node, rule);
  if (key == "hardware")
    return SetLabel(value, &mad::DeviceLabel::hardware, node, rule);
  if (key == "board_id")
    return SetLabel(value, &mad::DeviceLabel::board_id, node, rule);
  if (key == "hca_type")
    return SetLabel(value, &mad::DeviceLabel::hca_type, node, rule);
  if (const DeviceLimit* const limit = FindLimit(key)) {
    return SetLimit(value, *limit, node, rule);
  }
  return Setting::kUnknownKey;
}

const DeviceLimit* FindLimit(std::string_view name) {
  const auto limit = std::ranges::find(kDeviceLimits, name, &DeviceLimit::name);
  return limit == std::end(kDeviceLimits) ? nullptr : limit;
}

std::vector<std::string_view> WithLimits(
    std::span<const std::string_view> keys) {
  std::vector<std::string_view> all(keys.begin(), keys.end());
  for (const DeviceLimit& limit : kDeviceLimits) all.push_back(limit.name);
  return all;
}

void ForEachLimit(
    const NodeSpec& node,
    absl::FunctionRef<void(std::string_view name, uint64_t value)> told) {
  if (node.limits == nullptr) return;
  for (const DeviceLimit& limit : kDeviceLimits) {
    const uint64_t value = *node.limits.*limit.value;
    if (value != limit.Most()) told(limit.name, value);
  }
}

Setting SetLinkKey(std::string_view key, std::string_view value, LinkSpec& link,
                   std::string& rule) {
  if (key == "rate") {
    const std::optional<LinkRate> rate = ParseLinkRate(value);
    if (!rate) {
      rule =
          "it is a width from 1x to 12x and a speed from SDR to XDR, as in "
          "4xEDR";
      return Setting::kBadValue;
    }
    link.rate = *rate;
    return Setting::kDone;
  }
  if (key == "width") {
    const uint8_t width = ParseLinkWidth(value);
    if (width == 0) {
      rule = "it is one of 1x, 2x, 4x, 8x, 12x";
      return Setting::kBadValue;
    }
    link.rate.width = width;
    return Setting::kDone;
  }
  if (key == "speed") {
    if (ParseLinkSpeed(value, link.rate)) return Setting::kDone;
    rule = "it is one of SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR, XDR";
    return Setting::kBadValue;
  }
  if (key == "length") return SetNumber(value, 0xffff, link.length, rule);
  if (key == "down") return SetFlag(value, link.down, rule);
  return Setting::kUnknownKey;
}

}  // namespace ibemu::topology
