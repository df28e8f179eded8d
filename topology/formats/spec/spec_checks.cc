#include "topology/formats/spec/spec_checks.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "topology/formats/text/attributes.h"

namespace ibemu::topology {

std::string ListKeys(std::span<const std::string_view> keys) {
  return absl::StrJoin(keys, ", ", [](std::string* out, std::string_view key) {
    out->append(key);
  });
}

void SpecChecks::Fault(Place at, std::string what) {
  faults_.Add(at, std::move(what));
}

void SpecChecks::UnknownKey(const SpecEntry& entry, std::string_view owner,
                            std::span<const std::string_view> keys) {
  DidYouMean names(entry.key);
  for (const std::string_view key : keys) names.Offer(key);
  Fault(entry.at, absl::StrFormat("%s has no key \"%s\" but %s%s", owner,
                                  entry.key, ListKeys(keys), names.Question()));
}

void SpecChecks::BadValue(const SpecEntry& entry, std::string_view rule) {
  if (entry.value.kind == SpecValue::Kind::kScalar) {
    Fault(entry.value.at,
          absl::StrFormat("%s: \"%s\": %s", entry.key, entry.value.text, rule));
  } else {
    Fault(entry.value.at, absl::StrFormat("%s: %s", entry.key, rule));
  }
}

void SpecChecks::CheckKeys(const SpecValue& map, std::string_view owner,
                           std::span<const std::string_view> keys) {
  for (const SpecEntry& entry : map.entries) {
    if (std::ranges::find(keys, entry.key) == keys.end()) {
      UnknownKey(entry, owner, keys);
    }
  }
}

std::optional<std::string> SpecChecks::Text(const SpecValue& map,
                                            std::string_view key) {
  const SpecEntry* entry = map.Find(key);
  if (entry == nullptr) return std::nullopt;
  if (entry->value.kind == SpecValue::Kind::kScalar) return entry->value.text;
  BadValue(*entry, "it is one word");
  return std::nullopt;
}

std::optional<int> SpecChecks::Ports(const SpecValue& map) {
  const std::optional<std::string> text = Text(map, "ports");
  if (!text) return std::nullopt;
  const std::optional<uint64_t> number = ParseNumber(*text);
  if (number && *number >= 1 && *number <= kMaxPorts) {
    return static_cast<int>(*number);
  }
  BadValue(*map.Find("ports"),
           absl::StrFormat("it is a number from 1 to %d", kMaxPorts));
  return std::nullopt;
}

std::optional<mad::NodeType> SpecChecks::Type(const SpecValue& map) {
  const std::optional<std::string> text = Text(map, "type");
  if (!text) return std::nullopt;
  const std::optional<mad::NodeType> type = ParseNodeType(*text);
  if (!type) BadValue(*map.Find("type"), kNodeTypeRule);
  return type;
}

std::vector<const SpecValue*> SpecChecks::Maps(const SpecValue& root,
                                               std::string_view key,
                                               std::string_view example) {
  std::vector<const SpecValue*> maps;
  const SpecEntry* entry = root.Find(key);
  if (entry == nullptr || entry->value.kind == SpecValue::Kind::kNull)
    return maps;
  if (entry->value.kind != SpecValue::Kind::kList) {
    BadValue(*entry, absl::StrFormat("it is a list: %s", example));
    return maps;
  }
  for (const SpecValue& item : entry->value.items) {
    if (item.kind == SpecValue::Kind::kMap) {
      maps.push_back(&item);
    } else {
      Fault(item.at,
            absl::StrFormat("an item of %s is a map: %s", key, example));
    }
  }
  return maps;
}

bool SpecChecks::SetNode(const SpecEntry& property, NodeSpec& node) {
  std::string rule;
  if (property.value.kind != SpecValue::Kind::kScalar) {
    BadValue(property, "it is one word");
    return true;
  }
  const Setting done =
      SetNodeKey(property.key, property.value.text, node, rule);
  if (done == Setting::kBadValue) BadValue(property, rule);
  return done != Setting::kUnknownKey;
}

bool SpecChecks::SetLink(const SpecEntry& property, LinkSpec& link,
                         bool& has_width, bool& has_speed) {
  std::string rule;
  if (property.value.kind != SpecValue::Kind::kScalar) {
    BadValue(property, "it is one word");
    return true;
  }
  const Setting done =
      SetLinkKey(property.key, property.value.text, link, rule);
  if (done == Setting::kBadValue) BadValue(property, rule);
  has_width |= property.key == "rate" || property.key == "width";
  has_speed |= property.key == "rate" || property.key == "speed";
  return done != Setting::kUnknownKey;
}

}  // namespace ibemu::topology
