// YAML specs: what a generator or another file gives, more nodes and cables,
// profiles of devices, and rules for cables.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "fabric/formats/attributes.h"
#include "fabric/formats/draft_builder.h"
#include "fabric/formats/formats.h"
#include "fabric/formats/glob.h"
#include "fabric/formats/spec_value.h"
#include "fabric/rate_text.h"
#include "fabric/topology_builder.h"

namespace ibemu::fabric {
namespace {

using mad::NodeType;
using Kind = SpecValue::Kind;

constexpr std::string_view kTopKeys[] = {"generator", "include", "hosts",
                                         "profiles",  "nodes",   "links"};

// What a profile gives to the nodes that it is for.
struct Profile {
  const SpecEntry* entry = nullptr;
  std::vector<std::string> patterns;
  std::optional<NodeType> type;  // nothing: any
  std::optional<int> ports;
  bool has_width = false, has_speed = false;
  LinkRate rate;
  bool used = false;

  const std::string& name() const { return entry->key; }
};

// A node and what this spec knows of it beyond its own properties.
struct SpecNode {
  NodeSpec spec;
  Place at;
  bool has_ports = false;
  int highest_port = 1;  // of its cables
  std::vector<const Profile*> profiles;
};

struct SpecLink {
  Place at;
  size_t nodes[2] = {};
  int ports[2] = {};
  LinkSpec link;
  bool has_width = false, has_speed = false;  // this spec says so
};

class SpecReader {
 public:
  absl::StatusOr<Topology> Read(std::string_view text, std::string_view file,
                                Progress progress, int depth) {
    file_ = file;
    depth_ = depth;
    const SpecValue root = ParseSpecValue(text, faults_.AddFile(file), faults_);
    if (!faults_.empty()) return faults_.ToStatus();
    if (root.kind != Kind::kMap) {
      faults_.Add({0, 1}, absl::StrCat("a spec is a map: its keys are ",
                                       absl::StrJoin(Names(kTopKeys), ", ")));
      return faults_.ToStatus();
    }
    CheckKeys(root, "a spec", kTopKeys);
    ReadBase(root, progress);
    NameHosts(root);
    ReadProfiles(root);
    ReadNodes(root);
    AssignProfiles();
    ReadLinks(root);
    return Build(progress);
  }

 private:
  // --- The shape of things

  static std::vector<absl::string_view> Names(
      std::span<const std::string_view> keys) {
    std::vector<absl::string_view> names;
    for (const std::string_view key : keys) names.push_back(Absl(key));
    return names;
  }

  void Fault(Place at, std::string what) { faults_.Add(at, std::move(what)); }

  void UnknownKey(const SpecEntry& entry, std::string_view owner,
                  std::span<const std::string_view> keys) {
    DidYouMean names(entry.key);
    for (const std::string_view key : keys) names.Offer(key);
    Fault(entry.at,
          absl::StrFormat("%s has no key \"%s\" but %s%s", owner, entry.key,
                          absl::StrJoin(Names(keys), ", "), names.Question()));
  }

  void CheckKeys(const SpecValue& map, std::string_view owner,
                 std::span<const std::string_view> keys) {
    for (const SpecEntry& entry : map.entries) {
      if (std::ranges::find(keys, entry.key) == keys.end()) {
        UnknownKey(entry, owner, keys);
      }
    }
  }

  void BadValue(const SpecEntry& entry, std::string_view rule) {
    if (entry.value.kind == Kind::kScalar) {
      Fault(entry.value.at, absl::StrFormat("%s: \"%s\": %s", entry.key,
                                            entry.value.text, rule));
    } else {
      Fault(entry.value.at, absl::StrFormat("%s: %s", entry.key, rule));
    }
  }

  // The text behind `key`; nothing if it is not there, or no text.
  std::optional<std::string> Text(const SpecValue& map, std::string_view key) {
    const SpecEntry* entry = map.Find(key);
    if (entry == nullptr) return std::nullopt;
    if (entry->value.kind == Kind::kScalar) return entry->value.text;
    BadValue(*entry, "it is one word");
    return std::nullopt;
  }

  std::optional<int> Ports(const SpecValue& map) {
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

  std::optional<NodeType> Type(const SpecValue& map) {
    const std::optional<std::string> text = Text(map, "type");
    if (!text) return std::nullopt;
    const std::optional<NodeType> type = ParseNodeType(*text);
    if (!type) BadValue(*map.Find("type"), kNodeTypeRule);
    return type;
  }

  // The maps of a list; what else is in it is told.
  std::vector<const SpecValue*> Maps(const SpecValue& root,
                                     std::string_view key,
                                     std::string_view example) {
    std::vector<const SpecValue*> maps;
    const SpecEntry* entry = root.Find(key);
    if (entry == nullptr || entry->value.kind == Kind::kNull) return maps;
    if (entry->value.kind != Kind::kList) {
      BadValue(*entry, absl::StrFormat("it is a list: %s", example));
      return maps;
    }
    for (const SpecValue& item : entry->value.items) {
      if (item.kind == Kind::kMap) {
        maps.push_back(&item);
      } else {
        Fault(item.at,
              absl::StrFormat("an item of %s is a map: %s", key, example));
      }
    }
    return maps;
  }

  // --- What there is before this spec

  void ReadBase(const SpecValue& root, Progress progress) {
    const SpecEntry* generator = root.Find("generator");
    const SpecEntry* include = root.Find("include");
    if (generator != nullptr && include != nullptr) {
      return Fault(std::max(generator->at, include->at),
                   "a spec has a generator or an include, not both");
    }
    const SpecEntry* entry = generator != nullptr ? generator : include;
    if (entry == nullptr) return;
    const std::optional<std::string> text = Text(root, entry->key);
    if (!text) return;
    absl::StatusOr<Topology> base = absl::InternalError("");
    if (entry == generator) {
      base = GenerateTopology(*text, progress);
    } else if (depth_ >= kMaxSpecIncludes) {
      return Fault(entry->at, absl::StrFormat("include goes deeper than %d "
                                              "files",
                                              kMaxSpecIncludes));
    } else {
      const auto path = (std::filesystem::path(file_).parent_path() / *text)
                            .lexically_normal();
      std::error_code unknown;
      if (std::filesystem::exists(path, unknown) &&
          !std::filesystem::is_regular_file(path, unknown)) {
        return BadValue(*entry, "it is no regular file");
      }
      base = ReadTopologyFile(path.string(), progress, depth_ + 1);
    }
    if (!base.ok()) {
      for (const absl::string_view line :
           absl::StrSplit(base.status().message(), '\n')) {
        Fault(entry->at, std::string(line));
      }
      return;
    }
    for (NodeSpec& node : base->nodes) {
      SpecNode& added = AddNode(std::move(node), entry->at);
      added.has_ports = true;
    }
    for (const LinkSpec& link : base->links) {
      SpecLink& added = links_.emplace_back();
      added.at = entry->at;
      added.nodes[0] = static_cast<size_t>(link.a);
      added.nodes[1] = static_cast<size_t>(link.b);
      added.ports[0] = link.port_a;
      added.ports[1] = link.port_b;
      added.link = link;
      Note(added);
    }
  }

  SpecNode& AddNode(NodeSpec spec, Place at) {
    const size_t index = nodes_.size();
    by_name_.try_emplace(spec.name, index);
    SpecNode& node = nodes_.emplace_back();
    node.spec = std::move(spec);
    node.at = at;
    return node;
  }

  // Remembers which ports are used.
  void Note(const SpecLink& link) {
    for (int i = 0; i < 2; ++i) {
      int& highest = nodes_[link.nodes[i]].highest_port;
      highest = std::max(highest, link.ports[i]);
    }
  }

  // "compute-%03d"
  void NameHosts(const SpecValue& root) {
    const std::optional<std::string> pattern = Text(root, "hosts");
    if (!pattern) return;
    const size_t percent = pattern->find('%');
    const size_t d = pattern->find('d', percent == pattern->npos ? 0 : percent);
    const std::string_view width =
        percent == pattern->npos || d == pattern->npos
            ? std::string_view("?")
            : std::string_view(*pattern).substr(percent + 1, d - percent - 1);
    int digits = 0;
    if (!(width.empty() || (width.size() == 2 && width[0] == '0' &&
                            absl::SimpleAtoi(Absl(width), &digits))) ||
        pattern->find('%', percent + 1) != pattern->npos) {
      return BadValue(*root.Find("hosts"),
                      "it has one %d for the host's number, or %03d for one "
                      "of three digits");
    }
    int number = 0;
    for (SpecNode& node : nodes_) {
      if (node.spec.type != NodeType::kChannelAdapter) continue;
      std::string text = absl::StrCat(++number);
      const auto wanted = static_cast<size_t>(digits);
      if (text.size() < wanted) text.insert(0, wanted - text.size(), '0');
      node.spec.description = absl::StrCat(pattern->substr(0, percent), text,
                                           pattern->substr(d + 1));
    }
  }

  // --- Profiles

  void ReadProfiles(const SpecValue& root) {
    const SpecEntry* all = root.Find("profiles");
    if (all == nullptr || all->value.kind == Kind::kNull) return;
    if (all->value.kind != Kind::kMap) {
      return BadValue(*all, "it is a map of names to profiles");
    }
    for (const SpecEntry& entry : all->value.entries) {
      if (entry.value.kind != Kind::kMap) {
        BadValue(entry, "a profile is a map");
        continue;
      }
      ReadProfile(entry);
    }
  }

  void ReadProfile(const SpecEntry& entry) {
    Profile& profile = profiles_.emplace_back();
    profile.entry = &entry;
    profile.ports = Ports(entry.value);
    profile.type = Type(entry.value);
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
        SetLink(property, link, profile.has_width, profile.has_speed);
      } else if (!IsProfileKey(property.key)) {
        UnknownKey(property, absl::StrFormat("profile %s", entry.key),
                   kProfileKeys);
      } else {
        SetNode(property, unused);
      }
    }
    profile.rate = link.rate;
  }

  static constexpr std::string_view kProfileKeys[] = {
      "match",    "type",      "ports",           "rate",     "width",
      "speed",    "vendor_id", "device_id",       "firmware", "hardware",
      "board_id", "hca_type",  "enhanced_port_0",
  };
  static bool IsProfileKey(std::string_view key) {
    return std::ranges::find(kProfileKeys, key) != std::end(kProfileKeys);
  }

  void ReadPatterns(const SpecEntry& entry, Profile& profile) {
    if (entry.value.kind == Kind::kScalar) {
      profile.patterns.push_back(entry.value.text);
      return;
    }
    for (const SpecValue& item : entry.value.items) {
      if (item.kind == Kind::kScalar) profile.patterns.push_back(item.text);
    }
    if (entry.value.kind != Kind::kList ||
        profile.patterns.size() != entry.value.items.size()) {
      BadValue(entry, "it is a pattern of node names, or a list of them");
    }
  }

  bool SetNode(const SpecEntry& property, NodeSpec& node) {
    std::string rule;
    if (property.value.kind != Kind::kScalar) {
      BadValue(property, "it is one word");
      return true;
    }
    const Setting done =
        SetNodeKey(property.key, property.value.text, node, rule);
    if (done == Setting::kBadValue) BadValue(property, rule);
    return done != Setting::kUnknownKey;
  }

  bool SetLink(const SpecEntry& property, LinkSpec& link, bool& has_width,
               bool& has_speed) {
    std::string rule;
    if (property.value.kind != Kind::kScalar) {
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

  void AssignProfiles() {
    for (Profile& profile : profiles_) {
      for (SpecNode& node : nodes_) {
        if (profile.type && *profile.type != node.spec.type) continue;
        const bool is_meant = std::ranges::any_of(
            profile.patterns, [&node](const std::string& pattern) {
              return MatchesGlob(pattern, node.spec.name) ||
                     MatchesGlob(pattern, node.spec.description);
            });
        if (is_meant) Apply(profile, node);
      }
    }
    for (const auto& [node, name, at] : wanted_profiles_) {
      const auto profile = std::ranges::find(profiles_, name, &Profile::name);
      if (profile != profiles_.end()) {
        Apply(*profile, nodes_[node]);
        continue;
      }
      DidYouMean names(name);
      for (const Profile& known : profiles_) names.Offer(known.name());
      Fault(at, absl::StrFormat("no profile is named \"%s\"%s", name,
                                names.Question()));
    }
    for (const Profile& profile : profiles_) {
      if (profile.used) continue;
      Fault(profile.entry->at,
            absl::StrFormat("profile %s is for no node: \"match\" is a pattern "
                            "of names, and a node may say \"profile: %s\"",
                            profile.name(), profile.name()));
    }
  }

  void Apply(Profile& profile, SpecNode& node) {
    profile.used = true;
    node.profiles.push_back(&profile);
    if (profile.ports) {
      if (*profile.ports < node.highest_port) {
        Fault(profile.entry->at,
              absl::StrFormat("profile %s has %d ports, but \"%s\" uses port "
                              "%d",
                              profile.entry->key, *profile.ports,
                              node.spec.description, node.highest_port));
        return;
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

  // --- Nodes of this spec

  void ReadNodes(const SpecValue& root) {
    for (const SpecValue* map :
         Maps(root, "nodes", "- {name: sw1, type: switch, ports: 36}")) {
      const std::optional<std::string> name = Text(*map, "name");
      if (!name) {
        if (map->Find("name") == nullptr) Fault(map->at, "a node has a name");
        continue;
      }
      NodeSpec node;
      node.name = *name;
      node.type = Type(*map).value_or(NodeType::kChannelAdapter);
      SetDefaultIds(node);
      const std::optional<int> ports = Ports(*map);
      for (const SpecEntry& property : map->entries) {
        if (property.key == "port_guids") {
          ReadPortGuids(property, node);
        } else if (property.key == "profile") {
          if (const auto profile = Text(*map, "profile")) {
            wanted_profiles_.push_back({nodes_.size(), *profile, property.at});
          }
        } else if (property.key != "name" && property.key != "type" &&
                   property.key != "ports" && !SetNode(property, node)) {
          UnknownKey(property, absl::StrFormat("node %s", *name),
                     kSpecNodeKeys);
        }
      }
      if (node.description.empty()) node.description = node.name;
      SpecNode& added = AddNode(std::move(node), map->at);
      added.has_ports = ports.has_value();
      added.spec.port_count = ports.value_or(1);
    }
  }

  static constexpr std::string_view kSpecNodeKeys[] = {
      "name",      "type",       "ports",    "description",
      "guid",      "port_guids", "profile",  "system_image_guid",
      "vendor_id", "device_id",  "firmware", "enhanced_port_0",
      "hardware",  "board_id",   "hca_type"};

  void ReadPortGuids(const SpecEntry& entry, NodeSpec& node) {
    for (const SpecValue& item : entry.value.items) {
      const std::optional<uint64_t> guid = ParseNumber(item.text);
      node.port_guids.push_back(mad::Guid{guid.value_or(0)});
      if (!guid) BadValue(entry, "it is a list of GUIDs");
    }
    if (entry.value.kind != Kind::kList) {
      BadValue(entry, "it is a list of GUIDs");
    }
  }

  // --- Cables

  void ReadLinks(const SpecValue& root) {
    std::vector<const SpecValue*> rules;
    for (const SpecValue* map :
         Maps(root, "links", "- {a: sw1/1, b: node-1/1, rate: 4xHDR}")) {
      if (map->Find("match") != nullptr) {
        rules.push_back(map);
      } else {
        ReadLink(*map);
      }
    }
    CompletePorts();
    ApplyProfileRates();
    for (const SpecValue* rule : rules) ReadRule(*rule);
  }

  void ReadLink(const SpecValue& map) {
    const SpecEntry* ends[] = {map.Find("a"), map.Find("b")};
    if (ends[0] == nullptr || ends[1] == nullptr) {
      return Fault(map.at,
                   "a link has two ends, a and b, or says with match which "
                   "links it is about");
    }
    SpecLink link;
    link.at = map.at;
    link.link.rate = DefaultLinkRate();
    bool is_whole = true;
    for (int i = 0; i < 2; ++i) {
      is_whole &= ReadEnd(*ends[i], link.nodes[i], link.ports[i]);
    }
    SetProperties(map, link, {"a", "b"});
    if (!is_whole) return;
    Note(link);
    links_.push_back(link);
  }

  void SetProperties(const SpecValue& map, SpecLink& link,
                     std::initializer_list<std::string_view> others) {
    std::vector<std::string_view> keys(others);
    for (const std::string_view key : LinkKeys()) keys.push_back(key);
    for (const SpecEntry& property : map.entries) {
      if (std::ranges::find(others, property.key) != others.end()) continue;
      if (!SetLink(property, link.link, link.has_width, link.has_speed)) {
        UnknownKey(property, "a link", keys);
      }
    }
  }

  // "sw1/3"
  bool ReadEnd(const SpecEntry& entry, size_t& node, int& port) {
    const std::string& text = entry.value.text;
    const size_t slash = text.rfind('/');
    if (slash == text.npos || slash == 0 ||
        !absl::SimpleAtoi(text.substr(slash + 1), &port) || port < 0 ||
        port > 255) {
      BadValue(entry, "an end is a node's name and a port, as in sw1/3");
      return false;
    }
    const std::string name = text.substr(0, slash);
    const std::optional<size_t> found = FindNode(name);
    if (found) {
      node = *found;
      return true;
    }
    DidYouMean names(name);
    for (const SpecNode& known : nodes_) {
      names.Offer(known.spec.name);
      names.Offer(known.spec.description);
    }
    BadValue(entry, absl::StrFormat("no node is named \"%s\"%s", name,
                                    names.Question()));
    return false;
  }

  // By its name, else by its description.
  std::optional<size_t> FindNode(const std::string& name) {
    const auto found = by_name_.find(name);
    if (found != by_name_.end()) return found->second;
    if (by_description_.empty()) {
      for (size_t i = 0; i < nodes_.size(); ++i) {
        by_description_.try_emplace(nodes_[i].spec.description, i);
      }
    }
    const auto described = by_description_.find(name);
    if (described == by_description_.end()) return std::nullopt;
    return described->second;
  }

  // Nodes that say nothing have as many ports as their cables need.
  void CompletePorts() {
    for (SpecNode& node : nodes_) {
      if (!node.has_ports) {
        node.spec.port_count = std::min(node.highest_port, kMaxPorts);
      }
    }
  }

  // What the ports at both ends can do takes the place of what a generator or
  // file said; what this spec says of a link stays.
  void ApplyProfileRates() {
    for (SpecLink& link : links_) {
      std::optional<LinkRate> both;
      for (const size_t node : link.nodes) {
        LinkRate own = link.link.rate;
        bool says = false;
        for (const Profile* profile : nodes_[node].profiles) {
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

  // "match: spine-*/1": each cable of which one end is meant.
  void ReadRule(const SpecValue& map) {
    const std::optional<std::string> pattern = Text(map, "match");
    SpecLink rule;
    SetProperties(map, rule, {"match"});
    if (!pattern) return;
    size_t count = 0;
    for (SpecLink& link : links_) {
      if (!IsMeant(*pattern, link)) continue;
      ++count;
      std::string told;
      for (const SpecEntry& property : map.entries) {
        SetLinkKey(property.key, property.value.text, link.link, told);
      }
    }
    if (count == 0) {
      Fault(map.at, absl::StrFormat("match: \"%s\": no link has an end of that "
                                    "name: it is written NODE/PORT",
                                    *pattern));
    }
  }

  bool IsMeant(std::string_view pattern, const SpecLink& link) const {
    for (int i = 0; i < 2; ++i) {
      const NodeSpec& node = nodes_[link.nodes[i]].spec;
      for (const std::string& name : {node.name, node.description}) {
        if (MatchesGlob(pattern, absl::StrCat(name, "/", link.ports[i]))) {
          return true;
        }
      }
    }
    return false;
  }

  absl::StatusOr<Topology> Build(Progress progress) {
    if (!faults_.empty()) return faults_.ToStatus();
    DraftBuilder builder(faults_);
    std::vector<std::optional<NodeId>> ids;
    for (SpecNode& node : nodes_) {
      ids.push_back(builder.AddNode(node.at, std::move(node.spec)));
    }
    for (const SpecLink& link : links_) {
      const std::optional<NodeId> a = ids[link.nodes[0]];
      const std::optional<NodeId> b = ids[link.nodes[1]];
      if (!a || !b) continue;  // told already
      builder.Connect(link.at, {*a, link.ports[0], {}}, {*b, link.ports[1], {}},
                      link.link);
    }
    return builder.Finish(progress);
  }

  struct WantedProfile {
    size_t node;
    std::string name;
    Place at;
  };

  FaultList faults_;
  std::string file_;
  int depth_ = 0;
  std::vector<SpecNode> nodes_;
  absl::flat_hash_map<std::string, size_t> by_name_, by_description_;
  std::vector<SpecLink> links_;
  std::vector<Profile> profiles_;
  std::vector<WantedProfile> wanted_profiles_;
};

}  // namespace

absl::StatusOr<Topology> ParseSpec(std::string_view text, std::string_view file,
                                   Progress progress, int depth) {
  return SpecReader().Read(text, file, progress, depth);
}

}  // namespace ibemu::fabric
