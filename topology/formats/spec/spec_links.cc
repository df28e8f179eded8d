#include "topology/formats/spec/spec_links.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/did_you_mean.h"
#include "topology/formats/text/attributes.h"
#include "topology/formats/text/glob.h"
#include "topology/rate_text.h"

namespace ibemu::topology {

void SpecLinks::Read(const SpecValue& root) {
  for (const SpecValue* map :
       checks_.Maps(root, "links", "- {a: sw1/1, b: node-1/1, rate: 4xHDR}")) {
    if (map->Find("match") != nullptr) {
      rules_.push_back(map);
    } else {
      ReadLink(*map);
    }
  }
}

void SpecLinks::ReadLink(const SpecValue& map) {
  const SpecEntry* ends[] = {map.Find("a"), map.Find("b")};
  if (ends[0] == nullptr || ends[1] == nullptr) {
    return checks_.Fault(
        map.at,
        "a link has two ends, a and b, or says with match which links it is "
        "about");
  }
  SpecLink link;
  link.at = map.at;
  link.link.rate = DefaultLinkRate();
  bool is_whole = true;
  for (int i = 0; i < 2; ++i) {
    is_whole &= ReadEnd(*ends[i], link.nodes[i], link.ports[i]);
  }
  SetProperties(map, link, {"a", "b"});
  if (is_whole) draft_.AddLink(link);
}

void SpecLinks::SetProperties(const SpecValue& map, SpecLink& link,
                              std::initializer_list<std::string_view> others) {
  std::vector<std::string_view> keys(others);
  for (const std::string_view key : LinkKeys()) keys.push_back(key);
  for (const SpecEntry& property : map.entries) {
    if (std::ranges::find(others, property.key) != others.end()) continue;
    if (!checks_.SetLink(property, link.link, link.has_width, link.has_speed)) {
      checks_.UnknownKey(property, "a link", keys);
    }
  }
}

// Parses an end, such as "sw1/3".  Returns false after reporting a fault.
bool SpecLinks::ReadEnd(const SpecEntry& entry, size_t& node, int& port) {
  const std::string& text = entry.value.text;
  const size_t slash = text.rfind('/');
  if (slash == text.npos || slash == 0 ||
      !absl::SimpleAtoi(text.substr(slash + 1), &port) || port < 0 ||
      port > 255) {
    checks_.BadValue(entry, "an end is a node's name and a port, as in sw1/3");
    return false;
  }
  const std::string name = text.substr(0, slash);
  const std::optional<size_t> found = draft_.Find(name);
  if (found) {
    node = *found;
    return true;
  }
  DidYouMean names(name);
  for (const SpecNode& known : draft_.nodes()) {
    names.Offer(known.spec.name);
    names.Offer(known.spec.description);
  }
  checks_.BadValue(entry, absl::StrFormat("no node is named \"%s\"%s", name,
                                          names.Question()));
  return false;
}

void SpecLinks::ApplyRules() {
  for (const SpecValue* rule : rules_) ApplyRule(*rule);
}

// Applies a rule, such as "match: spine-*/1", to each cable with an end that
// matches.
void SpecLinks::ApplyRule(const SpecValue& map) {
  const std::optional<std::string> pattern = checks_.Text(map, "match");
  SpecLink rule;
  SetProperties(map, rule, {"match"});
  if (!pattern) return;
  size_t count = 0;
  for (SpecLink& link : draft_.links()) {
    if (!IsMeant(*pattern, link)) continue;
    ++count;
    std::string told;
    for (const SpecEntry& property : map.entries) {
      SetLinkKey(property.key, property.value.text, link.link, told);
    }
  }
  if (count == 0) {
    checks_.Fault(map.at,
                  absl::StrFormat("match: \"%s\": no link has an end of that "
                                  "name: it is written NODE/PORT",
                                  *pattern));
  }
}

bool SpecLinks::IsMeant(std::string_view pattern, const SpecLink& link) {
  for (int i = 0; i < 2; ++i) {
    const NodeSpec& node = draft_.nodes()[link.nodes[i]].spec;
    for (const std::string& name : {node.name, node.description}) {
      if (MatchesGlob(pattern, absl::StrCat(name, "/", link.ports[i]))) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace ibemu::topology
