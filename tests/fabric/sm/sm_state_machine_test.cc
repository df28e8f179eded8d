#include "fabric/sm/sm_state_machine.h"

#include <gtest/gtest.h>

namespace ibemu::fabric {
namespace {

using wire::Guid, mad::SmInfo, mad::SmState;
using Advice = SmStateMachine::Advice;
using Verdict = SmStateMachine::Verdict;

SmInfo Manager(uint8_t priority, uint64_t guid, SmState state) {
  return {.guid = Guid{guid}, .priority = priority, .sm_state = state};
}

class SmStateMachineTest : public ::testing::Test {
 protected:
  SmInfo Own() { return Manager(5, 0x50, machine_.state()); }
  Advice Meet(uint8_t priority, SmState state) {
    return machine_.OnPeer(Own(), Manager(priority, 0x10, state));
  }
  void BecomeMaster() { machine_.OnDiscovered(); }
  void BecomeStandby() {
    EXPECT_EQ(Meet(6, SmState::kMaster), Advice::kFollow);
  }
  void BecomeNotActive() {
    BecomeStandby();
    EXPECT_EQ(machine_.OnControl(SmControl::kDisable), Verdict::kTaken);
  }

  SmStateMachine machine_;
};

TEST(OutranksTest, PriorityCountsFirstThenTheLowerGuid) {
  const SmInfo five = Manager(5, 0x50, SmState::kMaster);
  EXPECT_TRUE(Outranks(Manager(6, 0x99, SmState::kStandby), five));
  EXPECT_FALSE(Outranks(Manager(4, 0x10, SmState::kMaster), five));
  EXPECT_TRUE(Outranks(Manager(5, 0x10, SmState::kStandby), five));
  EXPECT_FALSE(Outranks(Manager(5, 0x51, SmState::kStandby), five));
  EXPECT_FALSE(Outranks(five, five));
}

TEST_F(SmStateMachineTest, BecomesMasterWhereThereIsNoOther) {
  EXPECT_EQ(machine_.state(), SmState::kDiscovering);
  machine_.OnDiscovered();
  EXPECT_EQ(machine_.state(), SmState::kMaster);
}

TEST_F(SmStateMachineTest, FollowsAnyMasterThatItFinds) {
  EXPECT_EQ(Meet(1, SmState::kMaster), Advice::kFollow);
  EXPECT_EQ(machine_.state(), SmState::kStandby);
  machine_.OnDiscovered();
  EXPECT_EQ(machine_.state(), SmState::kStandby);
}

TEST_F(SmStateMachineTest, WhileDiscoveringFollowsABetterOneThatStandsBy) {
  EXPECT_EQ(Meet(4, SmState::kStandby), Advice::kIgnore);
  EXPECT_EQ(Meet(9, SmState::kDiscovering), Advice::kIgnore);
  EXPECT_EQ(Meet(9, SmState::kNotActive), Advice::kIgnore);
  EXPECT_EQ(machine_.state(), SmState::kDiscovering);
  EXPECT_EQ(Meet(9, SmState::kStandby), Advice::kFollow);
  EXPECT_EQ(machine_.state(), SmState::kStandby);
}

TEST_F(SmStateMachineTest, AMasterHandsOverToABetterOneThatIsReady) {
  BecomeMaster();
  EXPECT_EQ(Meet(9, SmState::kDiscovering), Advice::kAskAgain);
  EXPECT_EQ(Meet(9, SmState::kNotActive), Advice::kIgnore);
  EXPECT_EQ(Meet(9, SmState::kStandby), Advice::kHandOver);
  EXPECT_EQ(machine_.state(), SmState::kMaster) << "not before it is taken";
  machine_.OnHandedOver();
  EXPECT_EQ(machine_.state(), SmState::kStandby);
}

TEST_F(SmStateMachineTest, OfTwoMastersTheWorseHandsOver) {
  BecomeMaster();
  EXPECT_EQ(Meet(9, SmState::kMaster), Advice::kHandOver);
  EXPECT_EQ(Meet(4, SmState::kMaster), Advice::kIgnore);
  EXPECT_EQ(Meet(4, SmState::kStandby), Advice::kIgnore);
}

TEST_F(SmStateMachineTest, OthersDoNotMoveWhoStandsByOrIsNotActive) {
  BecomeStandby();
  EXPECT_EQ(Meet(9, SmState::kMaster), Advice::kIgnore);
  machine_.OnHandedOver();
  EXPECT_EQ(machine_.state(), SmState::kStandby);
  EXPECT_EQ(machine_.OnControl(SmControl::kDisable), Verdict::kTaken);
  EXPECT_EQ(Meet(9, SmState::kMaster), Advice::kIgnore);
  EXPECT_EQ(machine_.state(), SmState::kNotActive);
}

TEST_F(SmStateMachineTest, LooksAroundWhenItsMasterIsLost) {
  BecomeStandby();
  machine_.OnMasterLost();
  EXPECT_EQ(machine_.state(), SmState::kDiscovering);
}

TEST_F(SmStateMachineTest, OnlyWhoStandsByHasAMasterToLose) {
  BecomeMaster();
  machine_.OnMasterLost();
  EXPECT_EQ(machine_.state(), SmState::kMaster);
}

TEST_F(SmStateMachineTest, WhoStandsByTakesHandoverDisableAndDiscover) {
  BecomeStandby();
  EXPECT_EQ(machine_.OnControl(SmControl::kStandby), Verdict::kRefused);
  EXPECT_EQ(machine_.OnControl(SmControl::kAcknowledge), Verdict::kTaken);
  EXPECT_EQ(machine_.state(), SmState::kStandby);
  EXPECT_EQ(machine_.OnControl(SmControl::kDiscover), Verdict::kTaken);
  EXPECT_EQ(machine_.state(), SmState::kDiscovering);
  BecomeStandby();
  EXPECT_EQ(machine_.OnControl(SmControl::kHandover), Verdict::kAcknowledged);
  EXPECT_EQ(machine_.state(), SmState::kMaster);
}

TEST_F(SmStateMachineTest, AMasterTakesAnothersSubnetAndNothingElse) {
  BecomeMaster();
  for (const SmControl control :
       {SmControl::kAcknowledge, SmControl::kDisable, SmControl::kStandby,
        SmControl::kDiscover, SmControl{0}, SmControl{6}}) {
    EXPECT_EQ(machine_.OnControl(control), Verdict::kRefused)
        << static_cast<int>(control);
  }
  EXPECT_EQ(machine_.OnControl(SmControl::kHandover), Verdict::kAcknowledged);
  EXPECT_EQ(machine_.state(), SmState::kMaster);
}

TEST_F(SmStateMachineTest, OnlyStandbyWakesWhoIsNotActive) {
  BecomeNotActive();
  for (const SmControl control : {SmControl::kHandover, SmControl::kAcknowledge,
                                  SmControl::kDisable, SmControl::kDiscover}) {
    EXPECT_EQ(machine_.OnControl(control), Verdict::kRefused)
        << static_cast<int>(control);
  }
  EXPECT_EQ(machine_.OnControl(SmControl::kStandby), Verdict::kTaken);
  EXPECT_EQ(machine_.state(), SmState::kStandby);
}

TEST_F(SmStateMachineTest, NothingIsAskedOfWhoDiscovers) {
  for (const SmControl control :
       {SmControl::kHandover, SmControl::kAcknowledge, SmControl::kDisable,
        SmControl::kStandby, SmControl::kDiscover}) {
    EXPECT_EQ(machine_.OnControl(control), Verdict::kRefused)
        << static_cast<int>(control);
  }
  EXPECT_EQ(machine_.state(), SmState::kDiscovering);
}

}  // namespace
}  // namespace ibemu::fabric
