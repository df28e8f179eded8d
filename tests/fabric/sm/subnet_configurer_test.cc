#include "fabric/sm/subnet_configurer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/topologies.h"
#include "tests/fabric/recorders.h"

namespace ibemu::fabric {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty;
using testing::SmallSubnet, testing::kHost, testing::kOtherHost,
    testing::kSwitch;
using wire::Lid, mad::PortState;

// node-1 with two ports and node-2 on one switch, where the manager is.
class SubnetConfigurerTest : public ::testing::Test {
 protected:
  NodePort& PortOf(topology::NodeId node, int number) {
    return subnet_.port(subnet_.port_id(node, number));
  }
  Lid LidOf(topology::NodeId node, int number) {
    return PortOf(node, number).info.lid;
  }
  void Sweep(bool anew = false) {
    EXPECT_TRUE(configurer_.Begin(anew).ok());
    EXPECT_TRUE(configurer_.Continue());
  }

  Subnet subnet_{SmallSubnet()};
  RecordedEvents events_;
  Links links_{subnet_, events_};
  SubnetConfigurer configurer_{subnet_, links_, events_,
                               subnet_.port_id(kSwitch, 0)};
};

TEST_F(SubnetConfigurerTest, GivesLidsToHostsFirst) {
  Sweep();
  EXPECT_EQ(LidOf(kHost, 1), Lid{1});
  EXPECT_EQ(LidOf(kHost, 2), Lid{2});
  EXPECT_EQ(LidOf(kOtherHost, 1), Lid{3});
  EXPECT_EQ(LidOf(kSwitch, 0), Lid{4});
  EXPECT_EQ(subnet_.node(kSwitch).sw->info.linear_fdb_top, 4);
  EXPECT_EQ(PortOf(kHost, 1).info.master_sm_lid, Lid{4});
}

TEST_F(SubnetConfigurerTest, KeepsValidLidsAndReplacesOthers) {
  PortOf(kHost, 1).info.lid = Lid{30};
  PortOf(kHost, 1).info.lmc = 1;
  PortOf(kHost, 2).info.lid = Lid{30};           // not the only one
  PortOf(kOtherHost, 1).info.lid = Lid{0xc001};  // a group's
  PortOf(kSwitch, 0).info.lid = Lid{1};
  Sweep(true);
  EXPECT_EQ(LidOf(kHost, 1), Lid{30});
  EXPECT_EQ(PortOf(kHost, 1).info.lmc, 0);
  EXPECT_EQ(LidOf(kHost, 2), Lid{2});
  EXPECT_EQ(LidOf(kOtherHost, 1), Lid{3});
  EXPECT_EQ(LidOf(kSwitch, 0), Lid{1});
  EXPECT_EQ(subnet_.node(kSwitch).sw->info.linear_fdb_top, 30);
}

TEST_F(SubnetConfigurerTest, SharesLinksAmongTheirVls) {
  EXPECT_EQ(PortOf(kHost, 1).VlArbitration(0), mad::VlArbitrationTable{});
  Sweep();
  for (const NodePort* const end : {&PortOf(kHost, 1), &PortOf(kSwitch, 1)}) {
    EXPECT_EQ(end->VlArbitration(0).entries[7].weight, 4);
    EXPECT_EQ(end->VlArbitration(2).entries[0].weight, 4);
  }
}

TEST_F(SubnetConfigurerTest, NobodyElseGetsTheLidOfWhoIsAway) {
  links_.SetNode(kOtherHost, false);
  Sweep();
  EXPECT_EQ(LidOf(kSwitch, 0), Lid{3});
  links_.SetNode(kHost, false);
  Sweep();
  links_.SetNode(kOtherHost, true);
  Sweep();
  EXPECT_EQ(LidOf(kOtherHost, 1), Lid{4}) << "1 and 2 are the other host's";
  links_.SetNode(kHost, true);
  Sweep();
  EXPECT_EQ(LidOf(kHost, 1), Lid{1});
  EXPECT_EQ(LidOf(kHost, 2), Lid{2});
}

TEST_F(SubnetConfigurerTest, TellsWhatCameAndWent) {
  Sweep();
  EXPECT_THAT(configurer_.came(), ::testing::SizeIs(4));
  Sweep();
  EXPECT_THAT(configurer_.came(), IsEmpty());
  links_.SetCable(subnet_.port_id(kHost, 2), false);
  Sweep();
  EXPECT_THAT(configurer_.went(), ElementsAre(subnet_.port_id(kHost, 2)));
  links_.SetCable(subnet_.port_id(kHost, 2), true);
  Sweep();
  EXPECT_THAT(configurer_.came(), ElementsAre(subnet_.port_id(kHost, 2)));
  EXPECT_THAT(configurer_.went(), IsEmpty());
}

TEST_F(SubnetConfigurerTest, AsksNewHostsToRegisterAgain) {
  Sweep(true);
  events_.reregisters.clear();
  Sweep();
  EXPECT_THAT(events_.reregisters, IsEmpty());
  const PortId port = subnet_.port_id(kOtherHost, 1);
  links_.SetCable(port, false);
  links_.SetCable(port, true);
  Sweep();
  EXPECT_THAT(events_.reregisters, ElementsAre(port));
  EXPECT_EQ(subnet_.port(port).info.port_state, PortState::kActive);
  events_.reregisters.clear();
  Sweep(true);
  EXPECT_THAT(events_.reregisters, ::testing::SizeIs(3));
}

TEST_F(SubnetConfigurerTest, FinishesWhatAnotherManagerLeftArmed) {
  for (NodePort& port : subnet_.ports()) {
    if (port.IsUp() && port.number != 0) {
      port.info.port_state = PortState::kArmed;
    }
  }
  Sweep(true);
  EXPECT_TRUE(PortOf(kHost, 1).IsActive());
  EXPECT_TRUE(PortOf(kSwitch, 3).IsActive());
}

TEST_F(SubnetConfigurerTest, NothingNewIsNoEvent) {
  Sweep();
  events_.changes.clear();
  Sweep();
  EXPECT_THAT(events_.changes, IsEmpty());
}

}  // namespace
}  // namespace ibemu::fabric
