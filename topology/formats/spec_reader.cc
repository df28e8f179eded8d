#include "topology/formats/spec_reader.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/absl_text.h"
#include "topology/formats/load_topology.h"
#include "topology/formats/spec/spec_addresses.h"
#include "topology/formats/spec/spec_checks.h"
#include "topology/formats/spec/spec_draft.h"
#include "topology/formats/spec/spec_links.h"
#include "topology/formats/spec/spec_profiles.h"
#include "topology/formats/spec/spec_value.h"
#include "topology/formats/text/attributes.h"
#include "topology/formats/text/draft_builder.h"

namespace ibemu::topology {
namespace {

using mad::NodeType;

constexpr std::string_view kTopKeys[] = {
    "generator", "include", "hosts", "profiles", "nodes", "links", "addresses"};

constexpr std::string_view kSpecNodeKeys[] = {
    "name",      "type",       "ports",    "description",
    "guid",      "port_guids", "profile",  "system_image_guid",
    "vendor_id", "device_id",  "firmware", "enhanced_port_0",
    "hardware",  "board_id",   "hca_type"};

class SpecReader {
 public:
  // `depth` is the number of files through which this one is included.
  SpecReader(std::string_view file, int depth) : file_(file), depth_(depth) {}

  // REQUIRES: called once.
  absl::StatusOr<Topology> Read(std::string_view text, Progress progress) {
    const SpecValue root =
        ParseSpecValue(text, faults_.AddFile(file_), faults_);
    if (!faults_.empty()) return faults_.ToStatus();
    if (root.kind != SpecValue::Kind::kMap) {
      faults_.Add({0, 1}, absl::StrCat("a spec is a map: its keys are ",
                                       ListKeys(kTopKeys)));
      return faults_.ToStatus();
    }
    checks_.CheckKeys(root, "a spec", kTopKeys);
    ReadBase(root, progress);
    NameHosts(root);
    profiles_.Read(root);
    ReadNodes(root);
    profiles_.Assign();
    SpecLinks links(checks_, draft_);
    links.Read(root);
    draft_.CompletePorts();
    profiles_.ApplyRates();
    links.ApplyRules();
    addresses_.Read(root);
    return Build(progress);
  }

 private:
  // --- The base of this spec, from a generator or another file

  void ReadBase(const SpecValue& root, Progress progress) {
    const SpecEntry* generator = root.Find("generator");
    const SpecEntry* include = root.Find("include");
    if (generator != nullptr && include != nullptr) {
      return checks_.Fault(std::max(generator->at, include->at),
                           "a spec has a generator or an include, not both");
    }
    const SpecEntry* entry = generator != nullptr ? generator : include;
    if (entry == nullptr) return;
    const std::optional<std::string> text = checks_.Text(root, entry->key);
    if (!text) return;
    absl::StatusOr<Topology> base = absl::InternalError("");
    if (entry == generator) {
      base = GenerateTopology(*text, progress);
    } else if (depth_ >= kMaxSpecIncludes) {
      return checks_.Fault(entry->at,
                           absl::StrFormat("include goes deeper than %d files",
                                           kMaxSpecIncludes));
    } else {
      const auto path = (std::filesystem::path(file_).parent_path() / *text)
                            .lexically_normal();
      std::error_code unknown;
      if (std::filesystem::exists(path, unknown) &&
          !std::filesystem::is_regular_file(path, unknown)) {
        return checks_.BadValue(*entry, "it is no regular file");
      }
      base = ReadTopologyFile(path.string(), progress, depth_ + 1);
    }
    if (!base.ok()) {
      for (const absl::string_view line :
           absl::StrSplit(base.status().message(), '\n')) {
        checks_.Fault(entry->at, std::string(line));
      }
      return;
    }
    TakeBase(*std::move(base), entry->at);
  }

  void TakeBase(Topology base, Place at) {
    for (NodeSpec& node : base.nodes) {
      draft_.AddNode(std::move(node), at).has_ports = true;
    }
    for (const LinkSpec& link : base.links) {
      SpecLink added;
      added.at = at;
      added.nodes[0] = static_cast<size_t>(link.a);
      added.nodes[1] = static_cast<size_t>(link.b);
      added.ports[0] = link.port_a;
      added.ports[1] = link.port_b;
      added.link = link;
      draft_.AddLink(added);
    }
    addresses_.Take(base.addresses, at);
  }

  // Names the hosts by a pattern such as "compute-%03d".
  void NameHosts(const SpecValue& root) {
    const std::optional<std::string> pattern = checks_.Text(root, "hosts");
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
      return checks_.BadValue(*root.Find("hosts"),
                              "it has one %d for the host's number, or %03d "
                              "for one of three digits");
    }
    int number = 0;
    for (SpecNode& node : draft_.nodes()) {
      if (node.spec.type != NodeType::kChannelAdapter) continue;
      std::string text = absl::StrCat(++number);
      const auto wanted = static_cast<size_t>(digits);
      if (text.size() < wanted) text.insert(0, wanted - text.size(), '0');
      node.spec.description = absl::StrCat(pattern->substr(0, percent), text,
                                           pattern->substr(d + 1));
    }
  }

  // --- Nodes of this spec

  void ReadNodes(const SpecValue& root) {
    for (const SpecValue* map : checks_.Maps(
             root, "nodes", "- {name: sw1, type: switch, ports: 36}")) {
      const std::optional<std::string> name = checks_.Text(*map, "name");
      if (!name) {
        if (map->Find("name") == nullptr) {
          checks_.Fault(map->at, "a node has a name");
        }
        continue;
      }
      NodeSpec node;
      node.name = *name;
      node.type = checks_.Type(*map).value_or(NodeType::kChannelAdapter);
      SetDefaultIds(node);
      const std::optional<int> ports = checks_.Ports(*map);
      for (const SpecEntry& property : map->entries) {
        if (property.key == "port_guids") {
          ReadPortGuids(property, node);
        } else if (property.key == "profile") {
          if (const auto profile = checks_.Text(*map, "profile")) {
            profiles_.Want(draft_.nodes().size(), *profile, property.at);
          }
        } else if (property.key != "name" && property.key != "type" &&
                   property.key != "ports" &&
                   !checks_.SetNode(property, node)) {
          checks_.UnknownKey(property, absl::StrFormat("node %s", *name),
                             WithLimits(kSpecNodeKeys));
        }
      }
      if (node.description.empty()) node.description = node.name;
      SpecNode& added = draft_.AddNode(std::move(node), map->at);
      added.has_ports = ports.has_value();
      added.spec.port_count = ports.value_or(1);
    }
  }

  void ReadPortGuids(const SpecEntry& entry, NodeSpec& node) {
    for (const SpecValue& item : entry.value.items) {
      const std::optional<uint64_t> guid = ParseNumber(item.text);
      node.port_guids.push_back(wire::Guid{guid.value_or(0)});
      if (!guid) checks_.BadValue(entry, "it is a list of GUIDs");
    }
    if (entry.value.kind != SpecValue::Kind::kList) {
      checks_.BadValue(entry, "it is a list of GUIDs");
    }
  }

  absl::StatusOr<Topology> Build(Progress progress) {
    if (!faults_.empty()) return faults_.ToStatus();
    DraftBuilder builder(faults_);
    std::vector<std::optional<NodeId>> ids;
    for (SpecNode& node : draft_.nodes()) {
      ids.push_back(builder.AddNode(node.at, std::move(node.spec)));
    }
    for (const SpecLink& link : draft_.links()) {
      const std::optional<NodeId> a = ids[link.nodes[0]];
      const std::optional<NodeId> b = ids[link.nodes[1]];
      if (!a || !b) continue;  // reported already
      builder.Connect(link.at, {*a, link.ports[0], {}}, {*b, link.ports[1], {}},
                      link.link);
    }
    for (const SpecAddress& address : addresses_.all()) {
      if (const std::optional<NodeId> node = ids[address.node]) {
        builder.AddAddress(address.at, *node, address.port, address.text);
      }
    }
    return builder.Finish(progress);
  }

  const std::string file_;
  const int depth_;
  FaultList faults_;
  SpecChecks checks_{faults_};
  SpecDraft draft_;
  SpecProfiles profiles_{checks_, draft_};
  SpecAddresses addresses_{checks_, draft_};
};

}  // namespace

absl::StatusOr<Topology> ParseSpec(std::string_view text, std::string_view file,
                                   Progress progress, int depth) {
  return SpecReader(file, depth).Read(text, progress);
}

}  // namespace ibemu::topology
