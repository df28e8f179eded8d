#include "daemon/journal/topology_digest.h"

#include <gtest/gtest.h>

#include "testing/topologies.h"

namespace ibemu::daemon {
namespace {

using testing::Chain;

TEST(TopologyDigestTest, IsOfNodesAndCablesAlone) {
  const topology::Topology chain = Chain(2);
  EXPECT_EQ(DigestOf(chain), DigestOf(Chain(2)));
  topology::Topology renamed = chain;
  renamed.nodes[0].description = "another name";
  EXPECT_EQ(DigestOf(renamed), DigestOf(chain));
  topology::Topology other = chain;
  other.nodes[0].node_guid = wire::Guid{0x4711};
  EXPECT_NE(DigestOf(other), DigestOf(chain));
  topology::Topology moved = chain;
  moved.links[0].port_b = 8;
  EXPECT_NE(DigestOf(moved), DigestOf(chain));
  topology::Topology cut = chain;
  cut.links[0].down = true;
  EXPECT_NE(DigestOf(cut), DigestOf(chain));
}

TEST(TopologyDigestTest, IsTheSameInEachVersion) {
  // Journals that are there would be taken for those of other topologies.
  EXPECT_EQ(DigestOf(Chain(1)), 13036136722658810860u);
}

}  // namespace
}  // namespace ibemu::daemon
