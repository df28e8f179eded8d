#include "topology/topology_builder.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace ibemu::topology {

std::string CanonicalName(mad::NodeType type, wire::Guid node_guid) {
  const char* prefix = type == mad::NodeType::kSwitch   ? "S-"
                       : type == mad::NodeType::kRouter ? "R-"
                                                        : "H-";
  return absl::StrCat(
      prefix, absl::Hex(static_cast<uint64_t>(node_guid), absl::kZeroPad16));
}

TopologyBuilder::TopologyBuilder(const LinkRate& rate, size_t nodes,
                                 size_t links, Progress progress)
    : rate_(rate), total_(nodes + links), progress_(progress) {
  topology_.nodes.reserve(nodes);
  topology_.links.reserve(links);
}

void TopologyBuilder::Tell() {
  const size_t done = topology_.nodes.size() + topology_.links.size();
  if (done % 4096 == 0) progress_("generating", done, total_);
}

void TopologyBuilder::AddHosts(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t guid = kHostGuids | (++hosts_ << 8);
    NodeSpec& host = topology_.nodes.emplace_back();
    host.node_guid = wire::Guid{guid};
    host.port_guids.push_back(wire::Guid{guid + 1});
    host.name = CanonicalName(host.type, host.node_guid);
    host.description = absl::StrCat("node-", hosts_);
    host.vendor_id = kGeneratedVendorId;
    host.device_id = kGeneratedHostDeviceId;
    host.port_count = 1;
    Tell();
  }
}

NodeId TopologyBuilder::AddSwitch(std::string description, int ports) {
  const wire::Guid guid{kSwitchGuids | (++switches_ << 8)};
  NodeSpec& node = topology_.nodes.emplace_back();
  node.type = mad::NodeType::kSwitch;
  node.node_guid = guid;
  node.port_guids.push_back(guid);
  node.name = CanonicalName(node.type, guid);
  node.description = std::move(description);
  node.vendor_id = kGeneratedVendorId;
  node.device_id = kGeneratedSwitchDeviceId;
  node.port_count = ports;
  Tell();
  return NodeId{static_cast<uint32_t>(topology_.nodes.size() - 1)};
}

void TopologyBuilder::Connect(NodeId a, int port_a, NodeId b, int port_b) {
  topology_.links.push_back({a, b, static_cast<uint8_t>(port_a),
                             static_cast<uint8_t>(port_b), rate_, 0, false});
  Tell();
}

}  // namespace ibemu::topology
