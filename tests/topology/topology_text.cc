#include "tests/topology/topology_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/absl_text.h"
#include "topology/formats/text/attributes.h"
#include "topology/rate_text.h"
#include "topology/topology_builder.h"
#include "wire/ip_text.h"

namespace ibemu::topology {
namespace {

std::string HexText(wire::Guid guid) {
  return absl::StrFormat("0x%x", static_cast<uint64_t>(guid));
}

bool HasUsualIds(const NodeSpec& node) {
  return node.vendor_id == kGeneratedVendorId &&
         node.device_id == (node.type == mad::NodeType::kSwitch
                                ? kGeneratedSwitchDeviceId
                                : kGeneratedHostDeviceId);
}

bool HasUsualPortGuids(const NodeSpec& node) {
  const auto first = static_cast<uint64_t>(node.node_guid) +
                     (node.type == mad::NodeType::kSwitch ? 0 : 1);
  for (size_t i = 0; i < node.port_guids.size(); ++i) {
    if (node.port_guids[i] != wire::Guid{first + i}) return false;
  }
  return true;
}

std::string NodeText(const NodeSpec& node) {
  std::string text;
  if (node.line != 0) absl::StrAppend(&text, node.line, ": ");
  absl::StrAppend(&text, Absl(NodeTypeName(node.type)), " ", node.name, ", ",
                  node.port_count, node.port_count == 1 ? " port" : " ports",
                  ", guid ", HexText(node.node_guid));
  if (!HasUsualPortGuids(node)) {
    absl::StrAppend(&text, ", port_guids ",
                    absl::StrJoin(node.port_guids, " ",
                                  [](std::string* out, wire::Guid guid) {
                                    *out += HexText(guid);
                                  }));
  }
  if (node.system_image_guid != wire::Guid{}) {
    absl::StrAppend(&text, ", system_image_guid ",
                    HexText(node.system_image_guid));
  }
  if (!HasUsualIds(node)) {
    absl::StrAppendFormat(&text, ", vendor_id 0x%x, device_id 0x%x",
                          node.vendor_id, node.device_id);
  }
  if (node.description != node.name) {
    absl::StrAppend(&text, ", description \"", node.description, "\"");
  }
  if (node.enhanced_port_0) text += ", enhanced_port_0";
  if (node.label != nullptr) {
    absl::StrAppend(&text, ", firmware \"", node.label->firmware,
                    "\", hardware \"", node.label->hardware, "\", board_id \"",
                    node.label->board_id, "\", hca_type \"",
                    node.label->hca_type, "\"");
  }
  ForEachLimit(node, [&text](std::string_view name, uint64_t value) {
    absl::StrAppend(&text, ", ", Absl(name), " ", value);
  });
  return text;
}

std::string RateText(const LinkRate& rate) {
  std::string text = LinkRateName(rate);
  if (ParseLinkRate(text) == rate) return text;
  absl::StrAppendFormat(&text, " (width %d, speed %d, ext %d, ext2 %d%s)",
                        rate.width, rate.speed, rate.speed_ext, rate.speed_ext2,
                        rate.fdr10 ? ", FDR10" : "");
  return text;
}

}  // namespace

std::string TopologyText(const Topology& topology) {
  std::string text;
  for (const NodeSpec& node : topology.nodes) text += NodeText(node) + "\n";
  for (const LinkSpec& link : topology.links) {
    absl::StrAppend(&text, topology.node(link.a).name, "/", link.port_a, " - ",
                    topology.node(link.b).name, "/", link.port_b, " ",
                    RateText(link.rate));
    if (link.length != 0) absl::StrAppend(&text, ", length ", link.length);
    absl::StrAppend(&text, link.down ? ", down" : "", "\n");
  }
  for (const PortAddresses& port : topology.addresses) {
    absl::StrAppend(&text, topology.node(port.node).name, "/",
                    static_cast<int>(port.port), " ",
                    absl::StrJoin(port.networks, " ",
                                  [](std::string* out, const auto& network) {
                                    *out += wire::NetworkText(network);
                                  }),
                    "\n");
  }
  return text;
}

}  // namespace ibemu::topology
