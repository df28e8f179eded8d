#include "fabric/sm/multicast_router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "fabric/routing/static_sm.h"
#include "testing/lab.h"
#include "tests/fabric/routes.h"

namespace ibemu::fabric {
namespace {

using ::testing::IsEmpty;
using testing::Lab;
using wire::Lid;

constexpr Lid kGroup{0xc010};

class MulticastRouterTest : public ::testing::TestWithParam<const char*> {
 protected:
  MulticastRouterTest() { EXPECT_TRUE(ConfigureSubnet(lab_.subnet()).ok()); }

  std::vector<PortId> Ports(std::initializer_list<const char*> names) {
    std::vector<PortId> ports;
    for (const char* name : names) ports.push_back(lab_.IdOf(name, 1));
    return ports;
  }
  void Route(std::vector<PortId> receivers, std::vector<PortId> senders = {}) {
    router_.SetMembers(kGroup, {.receivers = std::move(receivers),
                                .senders = std::move(senders)});
    router_.Route(kGroup);
  }
  // Where copies of a packet from this end port come out, and how often; a loop
  // makes more copies than there are ports.
  std::map<PortId, int> Flood(PortId from) {
    const Subnet& subnet = lab_.subnet();
    std::map<PortId, int> copies;
    std::vector<PortId> entering;
    const auto leave = [&](PortId egress) {
      const NodePort& port = subnet.port(egress);
      if (port.IsUp()) entering.push_back(port.peer);
    };
    if (subnet.NodeOf(from).is_switch()) {
      entering.push_back(from);
    } else {
      leave(from);
    }
    for (size_t i = 0; i < entering.size(); ++i) {
      if (i > subnet.ports().size()) {
        ADD_FAILURE() << "a loop";
        break;
      }
      const Node& node = subnet.NodeOf(entering[i]);
      if (!node.is_switch()) {
        ++copies[entering[i]];
        continue;
      }
      for (const NodePort& port : subnet.PortsOf(node)) {
        const PortId id = subnet.id_of(port);
        if (id == entering[i] ||
            !node.sw->multicast.Contains(kGroup, port.number)) {
          continue;
        }
        if (port.number == 0) {
          ++copies[id];
        } else {
          leave(id);
        }
      }
    }
    return copies;
  }
  std::map<PortId, int> OnceEach(const std::vector<PortId>& ports, PortId but) {
    std::map<PortId, int> copies;
    for (const PortId port : ports) {
      if (port != but) copies[port] = 1;
    }
    return copies;
  }

  Lab lab_{GetParam()};
  MulticastRouter router_{lab_.subnet()};
};

TEST_P(MulticastRouterTest, EachReceiverGetsOneCopyFromEachMember) {
  std::vector<PortId> receivers, senders;
  int index = 0;
  for (const PortId end : EndPorts(lab_.subnet())) {
    ++index;
    if (index % 3 == 0) receivers.push_back(end);
    if (index % 3 == 1) senders.push_back(end);
  }
  Route(receivers, senders);
  for (const auto* members : {&receivers, &senders}) {
    for (const PortId from : *members) {
      ASSERT_EQ(Flood(from), OnceEach(receivers, from))
          << "from " << lab_.subnet().PortName(from);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, MulticastRouterTest,
                         ::testing::Values("single-switch:hosts=5,ports=8",
                                           "fat-tree:radix=4,levels=2",
                                           "fat-tree:radix=6,levels=3",
                                           "torus:3x3", "dragonfly:a=4"));

class MulticastTreeTest : public MulticastRouterTest {};

TEST_P(MulticastTreeTest, WhoOnlySendsGetsNothingAndDrawsNothing) {
  Route(Ports({"node-1"}), Ports({"node-8"}));
  EXPECT_EQ(Flood(lab_.IdOf("node-8", 1)),
            OnceEach(Ports({"node-1"}), kNoPort));
  EXPECT_THAT(Flood(lab_.IdOf("node-1", 1)), IsEmpty());
  const SwitchState& leaf = *lab_.subnet().node(lab_.Find("leaf-1")).sw;
  for (int port = 3; port <= 4; ++port) {
    EXPECT_FALSE(leaf.multicast.Contains(kGroup, port))
        << "nobody up there receives";
  }
}

TEST_P(MulticastTreeTest, WithoutMembersNothingIsLeft) {
  Route(Ports({"node-1", "node-4", "node-8"}));
  ASSERT_FALSE(Flood(lab_.IdOf("node-1", 1)).empty());
  Route({});
  for (const Node& node : lab_.subnet().nodes()) {
    if (!node.is_switch()) continue;
    for (int port = 0; port <= node.port_count; ++port) {
      EXPECT_FALSE(node.sw->multicast.Contains(kGroup, port));
    }
  }
}

TEST_P(MulticastTreeTest, LeadsAroundACutLink) {
  const std::vector<PortId> members = Ports({"node-1", "node-4", "node-8"});
  Route(members);
  for (const int uplink : {3, 4}) {
    const PortId port = lab_.IdOf("leaf-1", uplink);
    lab_.fabric.links().SetCable(port, false);
    router_.RouteAll();
    for (const PortId from : members) {
      EXPECT_EQ(Flood(from), OnceEach(members, from));
    }
    lab_.fabric.links().SetCable(port, true);
  }
}

TEST_P(MulticastTreeTest, AMemberThatIsDownWaitsOutside) {
  const std::vector<PortId> members = Ports({"node-1", "node-4", "node-8"});
  lab_.fabric.links().SetCable(members[0], false);
  Route(members);
  EXPECT_EQ(Flood(members[1]), OnceEach({members[2]}, kNoPort));
}

TEST_P(MulticastTreeTest, ASwitchWhoseTableIsTooShortIsInNoTree) {
  const std::vector<PortId> members = Ports({"node-1", "node-8"});
  lab_.subnet().node(lab_.Find("spine-1")).sw->info.multicast_fdb_cap = 16;
  Route(members);
  const auto spine_has_it = [&](const char* name) {
    const SwitchState& spine = *lab_.subnet().node(lab_.Find(name)).sw;
    return spine.multicast.Contains(kGroup, 1);
  };
  EXPECT_FALSE(spine_has_it("spine-1"));
  EXPECT_TRUE(spine_has_it("spine-2"));
  EXPECT_EQ(Flood(members[0]), OnceEach(members, members[0]));
}

TEST_P(MulticastTreeTest, TakingOverForgetsWhatAnotherManagerWrote) {
  const std::vector<PortId> members = Ports({"node-1", "node-8"});
  router_.SetMembers(kGroup, {.receivers = members, .senders = {}});
  const topology::NodeId leaf = lab_.Find("leaf-1");
  SwitchState& state = *lab_.subnet().node(leaf).sw;
  state.multicast.Set(Lid{0xc011}, 2, true);
  state.info.multicast_fdb_top = 0xc000;
  router_.TakeOver({leaf});
  EXPECT_FALSE(state.multicast.Contains(Lid{0xc011}, 2));
  EXPECT_EQ(state.info.multicast_fdb_top, 0);
  EXPECT_EQ(Flood(members[0]), OnceEach(members, members[0]));
}

INSTANTIATE_TEST_SUITE_P(FatTree, MulticastTreeTest,
                         ::testing::Values("fat-tree:radix=4,levels=2"));

}  // namespace
}  // namespace ibemu::fabric
