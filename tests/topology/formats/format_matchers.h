// What tests of formats have in common.
#ifndef IBEMU_TESTS_TOPOLOGY_FORMATS_FORMAT_MATCHERS_H_
#define IBEMU_TESTS_TOPOLOGY_FORMATS_FORMAT_MATCHERS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "topology/ibnetdiscover_writer.h"
#include "topology/rate_text.h"
#include "topology/topology.h"

namespace ibemu::topology {

// One string a fault.
inline std::vector<std::string> FaultsOf(
    const absl::StatusOr<Topology>& topology) {
  EXPECT_EQ(topology.status().code(), absl::StatusCode::kInvalidArgument);
  return absl::StrSplit(topology.status().message(), '\n');
}

// "sw1/1 - h1/1 4xHDR", in the order of the links.
inline std::vector<std::string> LinksOf(const Topology& topology) {
  std::vector<std::string> texts;
  for (const LinkSpec& link : topology.links) {
    texts.push_back(absl::StrCat(topology.node(link.a).name, "/", link.port_a,
                                 " - ", topology.node(link.b).name, "/",
                                 link.port_b, " ", LinkRateName(link.rate),
                                 link.down ? " down" : ""));
  }
  return texts;
}

// "sw1: switch 8", likewise.
inline std::vector<std::string> NodesOf(const Topology& topology) {
  std::vector<std::string> texts;
  for (const NodeSpec& node : topology.nodes) {
    texts.push_back(absl::StrCat(node.name, ": ",
                                 node.type == mad::NodeType::kSwitch ? "switch "
                                 : node.type == mad::NodeType::kRouter
                                     ? "router "
                                     : "ca ",
                                 node.port_count));
  }
  return texts;
}

inline std::string Normal(const Topology& topology) {
  return FormatIbnetdiscover(NormalizeTopology(topology));
}

}  // namespace ibemu::topology

#endif  // IBEMU_TESTS_TOPOLOGY_FORMATS_FORMAT_MATCHERS_H_
