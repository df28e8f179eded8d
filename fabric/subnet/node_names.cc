#include "fabric/subnet/node_names.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"

namespace ibemu::fabric {
namespace {

// Returns a description as people write it: programs may have left a line end.
std::string_view Described(const Node& node) {
  const std::string_view text = node.description;
  return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

template <typename Matches>
std::vector<topology::NodeId> NodesWhere(const Subnet& subnet,
                                         Matches matches) {
  std::vector<topology::NodeId> found;
  const auto nodes = subnet.nodes();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (matches(nodes[i])) {
      found.push_back(topology::NodeId{static_cast<uint32_t>(i)});
    }
  }
  return found;
}

// Returns the node that `wanted`, "0x...", is the GUID of, or its port's.
std::vector<topology::NodeId> NodesWithGuid(const Subnet& subnet,
                                            std::string_view wanted) {
  uint64_t number = 0;
  if (!wanted.starts_with("0x") ||
      !absl::SimpleHexAtoi(Absl(wanted), &number)) {
    return {};
  }
  const wire::Guid guid{number};
  const auto nodes = subnet.nodes();
  const auto node =
      std::find_if(nodes.begin(), nodes.end(),
                   [&](const Node& each) { return each.node_guid == guid; });
  if (node != nodes.end()) {
    return {topology::NodeId{static_cast<uint32_t>(node - nodes.begin())}};
  }
  for (const NodePort& port : subnet.ports()) {
    if (port.guid == guid) return {port.node};
  }
  return {};
}

// Returns true for the adapter "srv9 mlx5_0" of the host "srv9".
bool IsAdapterOfHost(const Node& node, std::string_view host) {
  std::string_view device = Described(node);
  if (node.type != mad::NodeType::kChannelAdapter || host.empty() ||
      !device.starts_with(host)) {
    return false;
  }
  device.remove_prefix(host.size());
  return device.starts_with(' ') && device.rfind(' ') == 0;
}

absl::Status Ambiguous(const Subnet& subnet, std::string_view wanted,
                       const std::vector<topology::NodeId>& found) {
  constexpr size_t kMaxTold = 4;
  std::string guids;
  for (size_t i = 0; i < std::min(found.size(), kMaxTold); ++i) {
    absl::StrAppendFormat(
        &guids, "%s0x%016x", i == 0 ? "" : ", ",
        static_cast<uint64_t>(subnet.node(found[i]).node_guid));
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "%d nodes are called \"%s\": write one's GUID instead: %s%s",
      found.size(), wanted, guids, found.size() > kMaxTold ? " ..." : ""));
}

}  // namespace

absl::StatusOr<topology::NodeId> NodeNames::Find(
    std::string_view wanted) const {
  const absl::StatusOr<std::vector<topology::NodeId>> found = FindHost(wanted);
  if (!found.ok()) return found.status();
  if (found->size() == 1) return found->front();
  return absl::InvalidArgumentError(
      absl::StrFormat("\"%s\" has several adapters: name one, as in \"%s\"",
                      wanted, Described(subnet_.node(found->front()))));
}

absl::StatusOr<std::vector<topology::NodeId>> NodeNames::FindHost(
    std::string_view wanted) const {
  const auto find = [&](auto matches) {
    return NodesWhere(subnet_, std::move(matches));
  };
  const std::vector<topology::NodeId> named =
      find([&](const Node& node) { return node.name == wanted; });
  std::vector<topology::NodeId> found =
      find([&](const Node& node) { return Described(node) == wanted; });
  if (found.empty() || (found.size() > 1 && named.size() == 1)) found = named;
  if (found.empty()) {
    found = find([&](const Node& node) {
      return node.first_description != nullptr &&
             *node.first_description == wanted;
    });
  }
  if (found.size() > 1) return Ambiguous(subnet_, wanted, found);
  if (found.empty()) found = NodesWithGuid(subnet_, wanted);
  if (found.empty()) {
    found =
        find([&](const Node& node) { return IsAdapterOfHost(node, wanted); });
  }
  if (!found.empty()) return found;
  DidYouMean near(wanted);
  for (const Node& node : subnet_.nodes()) {
    near.Offer(Described(node));
    near.Offer(node.name);
  }
  return absl::NotFoundError(
      absl::StrFormat("no node \"%s\"%s", wanted, near.Question()));
}

}  // namespace ibemu::fabric
