// The subnet manager inside the fabric among others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mad/wire/port_codes.h"
#include "tests/fabric/sm/fake_sm.h"

namespace ibemu::fabric {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::SizeIs;
using testing::Lab, testing::Chain;
using wire::Guid, wire::Lid, mad::MadStatus, mad::SmState;

class Mastership : public SubnetObserver {
 public:
  void OnMastership(bool is_master) override { heard.push_back(is_master); }
  void OnPorts(const std::vector<PortId>&,
               const std::vector<PortId>&) override {}
  void OnNotice(const mad::Notice&, const mad::Arrival&) override {}
  std::vector<bool> heard;
};

// host-1 - sw1 - sw2 - host-2: the manager lives on sw1.
class SubnetManagerPeersTest : public ::testing::Test {
 protected:
  SubnetManagerPeersTest() { net_.manager().AddObserver(mastership_); }

  SmState State() { return net_.manager().self().state; }
  void HandOverTo(FakeSm& sm) {
    sm.Appear();
    net_.timers.RunFor(absl::Milliseconds(100));
    ASSERT_EQ(State(), SmState::kStandby);
    mastership_.heard.clear();
  }

  Lab net_{Chain(2), Lab::kByItsManager};
  Mastership mastership_;
  FakeSm other_{net_, "host-2", 5};
  const std::vector<uint8_t> to_us_{1, 1};  // of host-2
};

TEST_F(SubnetManagerPeersTest, HandsOverToABetterOneThatStandsBy) {
  other_.Appear();
  net_.timers.RunFor(absl::Milliseconds(100));
  EXPECT_EQ(other_.Received(SmControl::kHandover), 1);
  EXPECT_EQ(State(), SmState::kStandby);
  EXPECT_THAT(mastership_.heard, ElementsAre(false));
  const SmIdentity master = net_.manager().master();
  EXPECT_EQ(master.port, net_.IdOf("host-2", 1));
  EXPECT_EQ(master.lid, net_.LidOf("host-2"));
  EXPECT_EQ(master.priority, 5);
}

TEST_F(SubnetManagerPeersTest, WaitsUntilABetterOneHasLookedAround) {
  other_.info.sm_state = SmState::kDiscovering;
  other_.Appear();
  net_.timers.RunFor(absl::Milliseconds(500));
  other_.requests.clear();
  net_.timers.RunFor(absl::Seconds(2));
  EXPECT_THAT(other_.requests, SizeIs(2));
  EXPECT_EQ(State(), SmState::kMaster);
  other_.info.sm_state = SmState::kStandby;
  net_.timers.RunFor(absl::Seconds(1));
  EXPECT_EQ(State(), SmState::kStandby);
}

TEST_F(SubnetManagerPeersTest, OfEqualPriorityTheLowerGuidWins) {
  other_.info.priority = 0;
  other_.info.guid = Guid{0x6000};
  other_.Appear();
  net_.timers.RunFor(absl::Minutes(1));
  EXPECT_EQ(State(), SmState::kMaster);
  EXPECT_THAT(mastership_.heard, IsEmpty());
  other_.info.guid = Guid{0x4000};
  net_.timers.RunFor(absl::Seconds(11));
  EXPECT_EQ(State(), SmState::kStandby);
}

TEST_F(SubnetManagerPeersTest, AsksAgainWhenItsQuestionIsLost) {
  const auto fault = net_.fabric.AddFault(
      net_.Find("sw2"), 2, Fabric::Direction::kTransmit, {.loss = 1.0});
  ASSERT_TRUE(fault.ok());
  other_.Appear();
  net_.timers.RunFor(absl::Milliseconds(500));
  EXPECT_THAT(other_.requests, IsEmpty());
  net_.fabric.RemoveFault(*fault);
  net_.timers.RunFor(absl::Milliseconds(200));
  EXPECT_EQ(State(), SmState::kStandby);
}

TEST_F(SubnetManagerPeersTest, StaysMasterWhereTheHandoverIsRefused) {
  other_.info.sm_state = SmState::kStandby;
  other_.Appear();
  other_.silent = true;
  net_.timers.RunFor(absl::Minutes(1));
  EXPECT_EQ(State(), SmState::kMaster);
}

TEST_F(SubnetManagerPeersTest, TakesOverWhenTheMasterIsSilent) {
  HandOverTo(other_);
  net_.timers.RunFor(absl::Minutes(2));
  EXPECT_EQ(State(), SmState::kStandby);
  other_.silent = true;
  net_.timers.RunFor(absl::Seconds(13));
  EXPECT_EQ(State(), SmState::kMaster);
  EXPECT_THAT(mastership_.heard, ElementsAre(true));
  EXPECT_EQ(net_.manager().master().port, net_.manager().port());
}

TEST_F(SubnetManagerPeersTest, TakesOverAtOnceWhenTheMasterHasGone) {
  HandOverTo(other_);
  other_.Vanish();
  net_.timers.RunFor(absl::Seconds(2));
  EXPECT_EQ(State(), SmState::kMaster);
}

TEST_F(SubnetManagerPeersTest, TakesOverWhenTheMastersLinkIsCut) {
  HandOverTo(other_);
  ASSERT_TRUE(net_.fabric.SetLink(net_.Find("host-2"), 1, false).ok());
  net_.timers.RunFor(absl::Seconds(11));
  EXPECT_EQ(State(), SmState::kMaster);
  ASSERT_TRUE(net_.fabric.SetLink(net_.Find("host-2"), 1, true).ok());
  net_.timers.RunFor(absl::Seconds(11));
  EXPECT_EQ(State(), SmState::kStandby) << "it is still the better one";
}

TEST_F(SubnetManagerPeersTest, TakesOverFromAMasterThatSaysItIsNone) {
  HandOverTo(other_);
  other_.info.sm_state = SmState::kNotActive;
  net_.timers.RunFor(absl::Seconds(31));
  EXPECT_EQ(State(), SmState::kMaster);
}

TEST_F(SubnetManagerPeersTest, FollowsWhoTookOverInTheMeantime) {
  FakeSm third(net_, "host-1", 9);
  HandOverTo(other_);
  third.info.sm_state = SmState::kMaster;
  third.Appear();
  other_.Vanish();
  net_.timers.RunFor(absl::Seconds(2));
  EXPECT_EQ(State(), SmState::kStandby);
  EXPECT_EQ(net_.manager().master().port, net_.IdOf("host-1", 1));
}

TEST_F(SubnetManagerPeersTest, AsMasterAgainConfiguresWhatTheOtherLeft) {
  HandOverTo(other_);
  const Lid kept{77};
  net_.PortOf("host-1", 1).info.lid = kept;
  net_.PortOf("host-1", 1).info.lmc = 2;
  net_.PortOf("host-1", 1).info.m_key = 0x1234;
  net_.PortOf("host-1", 1).info.master_sm_lid = net_.LidOf("host-2");
  for (const char* name : {"sw1", "sw2"}) {
    SwitchState& state = *net_.subnet().node(net_.Find(name)).sw;
    state.linear = LinearTable();
    state.multicast.Set(Lid{0xc001}, 3, true);
  }
  other_.Vanish();
  net_.timers.RunFor(absl::Seconds(2));
  const mad::PortInfo& info = net_.PortOf("host-1", 1).info;
  EXPECT_EQ(info.lid, kept);
  EXPECT_EQ(info.lmc, 0);
  EXPECT_EQ(info.m_key, 0);
  EXPECT_EQ(info.master_sm_lid, net_.LidOf("sw1", 0));
  EXPECT_EQ(Follow(net_.subnet(), net_.IdOf("host-2", 1), kept).end,
            net_.IdOf("host-1", 1));
  EXPECT_FALSE(net_.subnet()
                   .node(net_.Find("sw2"))
                   .sw->multicast.Contains(Lid{0xc001}, 3));
}

TEST_F(SubnetManagerPeersTest, AsStandbyLeavesTheSubnetToItsMaster) {
  HandOverTo(other_);
  ASSERT_TRUE(net_.fabric.SetLink(net_.Find("host-1"), 1, false).ok());
  ASSERT_TRUE(net_.fabric.SetLink(net_.Find("host-1"), 1, true).ok());
  net_.timers.RunFor(absl::Minutes(1));
  EXPECT_EQ(net_.PortOf("host-1", 1).info.port_state, mad::PortState::kInit);
}

TEST_F(SubnetManagerPeersTest, TakesAHandoverAndAcknowledgesIt) {
  HandOverTo(other_);
  net_.PortOf("sw1", 0).guid = Guid{1};  // else it would go back at once
  other_.info.priority = 0;
  other_.Set(SmControl::kHandover, to_us_);
  net_.timers.RunFor(absl::Milliseconds(50));
  ASSERT_THAT(other_.answers, SizeIs(1));
  EXPECT_EQ(other_.answers[0].status, MadStatus::kOk);
  EXPECT_EQ(other_.Received(SmControl::kAcknowledge), 1);
  EXPECT_EQ(State(), SmState::kMaster);
  EXPECT_THAT(mastership_.heard, ElementsAre(true));
}

TEST_F(SubnetManagerPeersTest, ObeysDisableAndStandby) {
  HandOverTo(other_);
  other_.Set(SmControl::kDisable, to_us_);
  net_.timers.RunFor(absl::Seconds(1));
  EXPECT_EQ(State(), SmState::kNotActive);
  other_.silent = true;
  net_.timers.RunFor(absl::Minutes(1));
  EXPECT_EQ(State(), SmState::kNotActive) << "it waits for no one";
  other_.Set(SmControl::kStandby, to_us_);
  net_.timers.RunPending();
  EXPECT_EQ(State(), SmState::kStandby);
  net_.timers.RunFor(absl::Seconds(13));
  EXPECT_EQ(State(), SmState::kMaster);
}

TEST_F(SubnetManagerPeersTest, ObeysDiscover) {
  HandOverTo(other_);
  other_.info.sm_state = SmState::kNotActive;
  other_.Set(SmControl::kDiscover, to_us_);
  net_.timers.RunFor(absl::Milliseconds(50));
  EXPECT_EQ(State(), SmState::kMaster);
}

TEST_F(SubnetManagerPeersTest, RefusesWhatItsStateForbids) {
  other_.Set(SmControl::kDisable, to_us_);
  other_.Set(SmControl{99}, to_us_);
  net_.timers.RunPending();
  ASSERT_THAT(other_.answers, SizeIs(2));
  for (const mad::Smp& answer : other_.answers) {
    EXPECT_EQ(answer.status, MadStatus::kInvalidField);
  }
  EXPECT_EQ(State(), SmState::kMaster);
}

TEST_F(SubnetManagerPeersTest, LeavesItsPortToAManagerOfTheSameHost) {
  mad::Port& port = net_.fabric.device(net_.Find("sw1")).port(0);
  port.SetIsSm(true);
  net_.timers.RunPending();
  EXPECT_EQ(State(), SmState::kNotActive);
  EXPECT_NE(port.Info().capability_mask & mad::capability::kIsSm, 0u);
  EXPECT_THAT(mastership_.heard, ElementsAre(false));
  port.SetIsSm(false);
  net_.timers.RunPending();
  EXPECT_EQ(State(), SmState::kMaster);
  EXPECT_NE(port.Info().capability_mask & mad::capability::kIsSm, 0u);
  EXPECT_THAT(mastership_.heard, ElementsAre(false, true));
}

TEST_F(SubnetManagerPeersTest, IsGoneWhileItsSwitchIsOff) {
  const topology::NodeId sw1 = net_.Find("sw1");
  net_.fabric.SetNode(sw1, false);
  net_.timers.RunPending();
  EXPECT_EQ(State(), SmState::kNotActive);
  other_.info.sm_state = SmState::kMaster;
  other_.Appear();
  net_.timers.RunFor(absl::Minutes(1));
  net_.fabric.SetNode(sw1, true);
  net_.timers.RunFor(absl::Seconds(1));
  EXPECT_EQ(State(), SmState::kStandby) << "another one was quicker";
}

}  // namespace
}  // namespace ibemu::fabric
