#include "fabric/sm/sm_election.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mad/wire/port_codes.h"
#include "tests/fabric/routes.h"
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
class SmElectionTest : public ::testing::Test {
 protected:
  SmElectionTest() { lab_.manager().AddObserver(mastership_); }

  SmState State() { return lab_.manager().self().state; }
  void HandOverTo(FakeSm& sm) {
    sm.Appear();
    lab_.timers.RunFor(absl::Milliseconds(100));
    ASSERT_EQ(State(), SmState::kStandby);
    mastership_.heard.clear();
  }

  Lab lab_{Chain(2), Lab::kByItsManager};
  Mastership mastership_;
  FakeSm other_{lab_, "host-2", 5};
  const std::vector<uint8_t> to_us_{1, 1};  // of host-2
};

TEST_F(SmElectionTest, HandsOverToABetterOneThatStandsBy) {
  other_.Appear();
  lab_.timers.RunFor(absl::Milliseconds(100));
  EXPECT_EQ(other_.Received(SmControl::kHandover), 1);
  EXPECT_EQ(State(), SmState::kStandby);
  EXPECT_THAT(mastership_.heard, ElementsAre(false));
  const SmIdentity master = lab_.manager().master();
  EXPECT_EQ(master.port, lab_.IdOf("host-2", 1));
  EXPECT_EQ(master.lid, lab_.LidOf("host-2"));
  EXPECT_EQ(master.priority, 5);
}

TEST_F(SmElectionTest, WaitsUntilABetterOneHasLookedAround) {
  other_.info.sm_state = SmState::kDiscovering;
  other_.Appear();
  lab_.timers.RunFor(absl::Milliseconds(500));
  other_.requests.clear();
  lab_.timers.RunFor(absl::Seconds(2));
  EXPECT_THAT(other_.requests, SizeIs(2));
  EXPECT_EQ(State(), SmState::kMaster);
  other_.info.sm_state = SmState::kStandby;
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_EQ(State(), SmState::kStandby);
}

TEST_F(SmElectionTest, OfEqualPriorityTheLowerGuidWins) {
  other_.info.priority = 0;
  other_.info.guid = Guid{0x6000};
  other_.Appear();
  lab_.timers.RunFor(absl::Minutes(1));
  EXPECT_EQ(State(), SmState::kMaster);
  EXPECT_THAT(mastership_.heard, IsEmpty());
  other_.info.guid = Guid{0x4000};
  lab_.timers.RunFor(absl::Seconds(11));
  EXPECT_EQ(State(), SmState::kStandby);
}

TEST_F(SmElectionTest, AsksAgainWhenItsQuestionIsLost) {
  const auto fault = lab_.fabric.AddFault(
      lab_.Find("sw2"), 2, Fabric::Direction::kTransmit, {.loss = 1.0});
  ASSERT_TRUE(fault.ok());
  other_.Appear();
  lab_.timers.RunFor(absl::Milliseconds(500));
  EXPECT_THAT(other_.requests, IsEmpty());
  lab_.fabric.RemoveFault(*fault);
  lab_.timers.RunFor(absl::Milliseconds(200));
  EXPECT_EQ(State(), SmState::kStandby);
}

TEST_F(SmElectionTest, StaysMasterWhereTheHandoverIsRefused) {
  other_.info.sm_state = SmState::kStandby;
  other_.Appear();
  other_.silent = true;
  lab_.timers.RunFor(absl::Minutes(1));
  EXPECT_EQ(State(), SmState::kMaster);
}

TEST_F(SmElectionTest, TakesOverWhenTheMasterIsSilent) {
  HandOverTo(other_);
  lab_.timers.RunFor(absl::Minutes(2));
  EXPECT_EQ(State(), SmState::kStandby);
  other_.silent = true;
  lab_.timers.RunFor(absl::Seconds(13));
  EXPECT_EQ(State(), SmState::kMaster);
  EXPECT_THAT(mastership_.heard, ElementsAre(true));
  EXPECT_EQ(lab_.manager().master().port, lab_.manager().port());
}

TEST_F(SmElectionTest, TakesOverAtOnceWhenTheMasterHasGone) {
  HandOverTo(other_);
  other_.Vanish();
  lab_.timers.RunFor(absl::Seconds(2));
  EXPECT_EQ(State(), SmState::kMaster);
}

TEST_F(SmElectionTest, TakesOverWhenTheMastersLinkIsCut) {
  HandOverTo(other_);
  lab_.SetLink(lab_.Find("host-2"), 1, false);
  lab_.timers.RunFor(absl::Seconds(11));
  EXPECT_EQ(State(), SmState::kMaster);
  lab_.SetLink(lab_.Find("host-2"), 1, true);
  lab_.timers.RunFor(absl::Seconds(11));
  EXPECT_EQ(State(), SmState::kStandby) << "it is still the better one";
}

TEST_F(SmElectionTest, TakesOverFromAMasterThatSaysItIsNone) {
  HandOverTo(other_);
  other_.info.sm_state = SmState::kNotActive;
  lab_.timers.RunFor(absl::Seconds(31));
  EXPECT_EQ(State(), SmState::kMaster);
}

TEST_F(SmElectionTest, FollowsWhoTookOverInTheMeantime) {
  FakeSm third(lab_, "host-1", 9);
  HandOverTo(other_);
  third.info.sm_state = SmState::kMaster;
  third.Appear();
  other_.Vanish();
  lab_.timers.RunFor(absl::Seconds(2));
  EXPECT_EQ(State(), SmState::kStandby);
  EXPECT_EQ(lab_.manager().master().port, lab_.IdOf("host-1", 1));
}

TEST_F(SmElectionTest, AsMasterAgainConfiguresWhatTheOtherLeft) {
  HandOverTo(other_);
  const Lid kept{77};
  lab_.PortOf("host-1", 1).info.lid = kept;
  lab_.PortOf("host-1", 1).info.lmc = 2;
  lab_.PortOf("host-1", 1).info.m_key = 0x1234;
  lab_.PortOf("host-1", 1).info.master_sm_lid = lab_.LidOf("host-2");
  for (const char* name : {"sw1", "sw2"}) {
    SwitchState& state = *lab_.subnet().node(lab_.Find(name)).sw;
    state.linear = LinearTable();
    state.multicast.Set(Lid{0xc001}, 3, true);
  }
  other_.Vanish();
  lab_.timers.RunFor(absl::Seconds(2));
  const mad::PortInfo& info = lab_.PortOf("host-1", 1).info;
  EXPECT_EQ(info.lid, kept);
  EXPECT_EQ(info.lmc, 0);
  EXPECT_EQ(info.m_key, 0);
  EXPECT_EQ(info.master_sm_lid, lab_.LidOf("sw1", 0));
  EXPECT_EQ(Follow(lab_.subnet(), lab_.IdOf("host-2", 1), kept).end,
            lab_.IdOf("host-1", 1));
  EXPECT_FALSE(lab_.subnet()
                   .node(lab_.Find("sw2"))
                   .sw->multicast.Contains(Lid{0xc001}, 3));
}

TEST_F(SmElectionTest, AsStandbyLeavesTheSubnetToItsMaster) {
  HandOverTo(other_);
  lab_.SetLink(lab_.Find("host-1"), 1, false);
  lab_.SetLink(lab_.Find("host-1"), 1, true);
  lab_.timers.RunFor(absl::Minutes(1));
  EXPECT_EQ(lab_.PortOf("host-1", 1).info.port_state, mad::PortState::kInit);
}

TEST_F(SmElectionTest, TakesAHandoverAndAcknowledgesIt) {
  HandOverTo(other_);
  lab_.PortOf("sw1", 0).guid = Guid{1};  // else it would go back at once
  other_.info.priority = 0;
  other_.Set(SmControl::kHandover, to_us_);
  lab_.timers.RunFor(absl::Milliseconds(50));
  ASSERT_THAT(other_.answers, SizeIs(1));
  EXPECT_EQ(other_.answers[0].status, MadStatus::kOk);
  EXPECT_EQ(other_.Received(SmControl::kAcknowledge), 1);
  EXPECT_EQ(State(), SmState::kMaster);
  EXPECT_THAT(mastership_.heard, ElementsAre(true));
}

TEST_F(SmElectionTest, ObeysDisableAndStandby) {
  HandOverTo(other_);
  other_.Set(SmControl::kDisable, to_us_);
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_EQ(State(), SmState::kNotActive);
  other_.silent = true;
  lab_.timers.RunFor(absl::Minutes(1));
  EXPECT_EQ(State(), SmState::kNotActive) << "it waits for no one";
  other_.Set(SmControl::kStandby, to_us_);
  lab_.timers.RunPending();
  EXPECT_EQ(State(), SmState::kStandby);
  lab_.timers.RunFor(absl::Seconds(13));
  EXPECT_EQ(State(), SmState::kMaster);
}

TEST_F(SmElectionTest, ObeysDiscover) {
  HandOverTo(other_);
  other_.info.sm_state = SmState::kNotActive;
  other_.Set(SmControl::kDiscover, to_us_);
  lab_.timers.RunFor(absl::Milliseconds(50));
  EXPECT_EQ(State(), SmState::kMaster);
}

TEST_F(SmElectionTest, RefusesWhatItsStateForbids) {
  other_.Set(SmControl::kDisable, to_us_);
  other_.Set(SmControl{99}, to_us_);
  lab_.timers.RunPending();
  ASSERT_THAT(other_.answers, SizeIs(2));
  for (const mad::Smp& answer : other_.answers) {
    EXPECT_EQ(answer.status, MadStatus::kInvalidField);
  }
  EXPECT_EQ(State(), SmState::kMaster);
}

TEST_F(SmElectionTest, LeavesItsPortToAManagerOfTheSameHost) {
  mad::Port& port = lab_.fabric.device(lab_.Find("sw1")).port(0);
  port.SetIsSm(true);
  lab_.timers.RunPending();
  EXPECT_EQ(State(), SmState::kNotActive);
  EXPECT_NE(port.Info().capability_mask & mad::capability::kIsSm, 0u);
  EXPECT_THAT(mastership_.heard, ElementsAre(false));
  port.SetIsSm(false);
  lab_.timers.RunPending();
  EXPECT_EQ(State(), SmState::kMaster);
  EXPECT_NE(port.Info().capability_mask & mad::capability::kIsSm, 0u);
  EXPECT_THAT(mastership_.heard, ElementsAre(false, true));
}

TEST_F(SmElectionTest, IsGoneWhileItsSwitchIsOff) {
  const topology::NodeId sw1 = lab_.Find("sw1");
  lab_.fabric.SetNode(sw1, false);
  lab_.timers.RunPending();
  EXPECT_EQ(State(), SmState::kNotActive);
  other_.info.sm_state = SmState::kMaster;
  other_.Appear();
  lab_.timers.RunFor(absl::Minutes(1));
  lab_.fabric.SetNode(sw1, true);
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_EQ(State(), SmState::kStandby) << "another one was quicker";
}

}  // namespace
}  // namespace ibemu::fabric
