#include "topology/formats/spec/spec_profiles.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/did_you_mean.h"
#include "topology/formats/text/attributes.h"
#include "topology/formats/text/glob.h"
#include "topology/rate_text.h"

namespace ibemu::topology {
namespace {

constexpr std::string_view kProfileKeys[] = {
    "match",    "type",      "ports",           "rate",     "width",
    "speed",    "vendor_id", "device_id",       "firmware", "hardware",
    "board_id", "hca_type",  "enhanced_port_0",
};

// As in kProfileKeys, and the limits of adapters.
bool IsProfileKey(std::string_view key) {
  return std::ranges::find(kProfileKeys, key) != std::end(kProfileKeys) ||
         FindLimit(key) != nullptr;
}

}  // namespace

void SpecProfiles::Read(const SpecValue& root) {
  const SpecEntry* all = root.Find("profiles");
  if (all == nullptr || all->value.kind == SpecValue::Kind::kNull) return;
  if (all->value.kind != SpecValue::Kind::kMap) {
    return checks_.BadValue(*all, "it is a map of names to profiles");
  }
  for (const SpecEntry& entry : all->value.entries) {
    if (entry.value.kind != SpecValue::Kind::kMap) {
      checks_.BadValue(entry, "a profile is a map");
      continue;
    }
    ReadProfile(entry);
  }
}

void SpecProfiles::ReadProfile(const SpecEntry& entry) {
  SpecProfile& profile = profiles_.emplace_back();
  profile.entry = &entry;
  profile.ports = checks_.Ports(entry.value);
  profile.type = checks_.Type(entry.value);
  LinkSpec link;
  NodeSpec unused;
  for (const SpecEntry& property : entry.value.entries) {
    if (property.key == "ports" || property.key == "type") continue;
    if (property.key == "match") {
      ReadPatterns(property, profile);
      continue;
    }
    const bool is_rate = property.key == "rate" || property.key == "width" ||
                         property.key == "speed";
    if (is_rate) {
      checks_.SetLink(property, link, profile.has_width, profile.has_speed);
    } else if (!IsProfileKey(property.key)) {
      checks_.UnknownKey(property, absl::StrFormat("profile %s", entry.key),
                         WithLimits(kProfileKeys));
    } else {
      checks_.SetNode(property, unused);
    }
  }
  profile.rate = link.rate;
}

void SpecProfiles::ReadPatterns(const SpecEntry& entry, SpecProfile& profile) {
  if (entry.value.kind == SpecValue::Kind::kScalar) {
    profile.patterns.push_back(entry.value.text);
    return;
  }
  for (const SpecValue& item : entry.value.items) {
    if (item.kind == SpecValue::Kind::kScalar) {
      profile.patterns.push_back(item.text);
    }
  }
  if (entry.value.kind != SpecValue::Kind::kList ||
      profile.patterns.size() != entry.value.items.size()) {
    checks_.BadValue(entry, "it is a pattern of node names, or a list of them");
  }
}

void SpecProfiles::Want(size_t node, std::string name, Place at) {
  wanted_.push_back({node, std::move(name), at});
}

void SpecProfiles::Assign() {
  for (SpecProfile& profile : profiles_) {
    for (SpecNode& node : draft_.nodes()) {
      if (profile.type && *profile.type != node.spec.type) continue;
      const bool is_meant = std::ranges::any_of(
          profile.patterns, [&node](const std::string& pattern) {
            return MatchesGlob(pattern, node.spec.name) ||
                   MatchesGlob(pattern, node.spec.description);
          });
      if (is_meant) Apply(profile, node);
    }
  }
  for (const auto& [node, name, at] : wanted_) {
    const auto profile = std::ranges::find(profiles_, name, &SpecProfile::name);
    if (profile != profiles_.end()) {
      Apply(*profile, draft_.nodes()[node]);
      continue;
    }
    DidYouMean names(name);
    for (const SpecProfile& known : profiles_) names.Offer(known.name());
    checks_.Fault(at, absl::StrFormat("no profile is named \"%s\"%s", name,
                                      names.Question()));
  }
  for (const SpecProfile& profile : profiles_) {
    if (profile.used) continue;
    checks_.Fault(
        profile.entry->at,
        absl::StrFormat("profile %s is for no node: \"match\" is a pattern "
                        "of names, and a node may say \"profile: %s\"",
                        profile.name(), profile.name()));
  }
}

void SpecProfiles::Apply(SpecProfile& profile, SpecNode& node) {
  profile.used = true;
  node.profiles.push_back(&profile);
  if (profile.ports) {
    if (*profile.ports < node.highest_port) {
      return checks_.Fault(
          profile.entry->at,
          absl::StrFormat("profile %s has %d ports, but \"%s\" uses port %d",
                          profile.name(), *profile.ports, node.spec.description,
                          node.highest_port));
    }
    node.spec.port_count = *profile.ports;
    node.has_ports = true;
  }
  for (const SpecEntry& property : profile.entry->value.entries) {
    std::string told;
    if (IsProfileKey(property.key)) {
      SetNodeKey(property.key, property.value.text, node.spec, told);
    }
  }
}

void SpecProfiles::ApplyRates() {
  for (SpecLink& link : draft_.links()) {
    std::optional<LinkRate> both;
    for (const size_t node : link.nodes) {
      LinkRate own = link.link.rate;
      bool says = false;
      for (const SpecProfile* profile : draft_.nodes()[node].profiles) {
        says |= profile->has_width || profile->has_speed;
        if (profile->has_width && !link.has_width) {
          own.width = profile->rate.width;
        }
        if (profile->has_speed && !link.has_speed) {
          const uint8_t width = own.width;
          own = profile->rate;
          own.width = width;
        }
      }
      if (!says) continue;
      both = both ? CommonLinkRate(*both, own).value_or(own) : own;
    }
    if (both) link.link.rate = *both;
  }
}

}  // namespace ibemu::topology
