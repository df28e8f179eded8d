#include "fabric/soft_hca/path_migration.h"

#include <gtest/gtest.h>

namespace ibemu::fabric {
namespace {

using verbs::MigrationState, verbs::QpAttributes, verbs::QpState;
namespace attribute = verbs::qp_attribute;

// A connection by port 1 to LID 5, with an alternate path by port 2 to LID 6.
class PathMigrationTest : public ::testing::Test {
 protected:
  PathMigrationTest() {
    own_.port_num = own_.ah_attr.port_num = 1;
    own_.ah_attr.dlid = 5;
    own_.timeout = 10;
    own_.alt_port_num = own_.alt_ah_attr.port_num = 2;
    own_.alt_ah_attr.dlid = 6;
    own_.alt_pkey_index = 3;
    own_.alt_timeout = 12;
  }

  void Enter(MigrationState state) {
    own_.path_mig_state = static_cast<uint32_t>(state);
  }
  bool MayAskFor(MigrationState state, QpState to = QpState::kReadyToSend,
                 uint32_t more = 0) const {
    QpAttributes wanted{};
    wanted.qp_attr_mask = attribute::kMigrationState | more;
    wanted.path_mig_state = static_cast<uint32_t>(state);
    return migration_.Check(wanted, to).ok();
  }
  static Packet From(int lid, bool migrated) {
    Packet packet;
    packet.slid = wire::Lid(static_cast<unsigned>(lid));
    packet.migrated = migrated;
    return packet;
  }

  QpAttributes own_{};
  PathMigration migration_{own_};
};

TEST_F(PathMigrationTest, AProgramMayRearmWhatIsNotArmed) {
  EXPECT_TRUE(MayAskFor(MigrationState::kRearm));
  Enter(MigrationState::kRearm);
  EXPECT_TRUE(MayAskFor(MigrationState::kRearm));
  Enter(MigrationState::kArmed);
  EXPECT_FALSE(MayAskFor(MigrationState::kRearm));
}

TEST_F(PathMigrationTest, ItIsRearmedInRtsAlone) {
  for (const auto to : {QpState::kInit, QpState::kReadyToReceive,
                        QpState::kSendQueueDrain, QpState::kError}) {
    EXPECT_FALSE(MayAskFor(MigrationState::kRearm, to));
  }
}

TEST_F(PathMigrationTest, ItIsRearmedWithAnAlternatePathAlone) {
  own_.alt_port_num = 0;
  EXPECT_FALSE(MayAskFor(MigrationState::kRearm));
  EXPECT_TRUE(MayAskFor(MigrationState::kRearm, QpState::kReadyToSend,
                        attribute::kAlternatePath))
      << "loaded by the same call";
}

TEST_F(PathMigrationTest, AProgramMayMoveWhatIsNotBeingArmed) {
  for (const auto to : {QpState::kReadyToSend, QpState::kSendQueueDrain}) {
    Enter(MigrationState::kMigrated);
    EXPECT_TRUE(MayAskFor(MigrationState::kMigrated, to)) << "it stays";
    Enter(MigrationState::kRearm);
    EXPECT_FALSE(MayAskFor(MigrationState::kMigrated, to));
    Enter(MigrationState::kArmed);
    EXPECT_TRUE(MayAskFor(MigrationState::kMigrated, to));
  }
  EXPECT_FALSE(MayAskFor(MigrationState::kMigrated, QpState::kReadyToReceive));
}

TEST_F(PathMigrationTest, OnlyThePeerArmsIt) {
  EXPECT_FALSE(MayAskFor(MigrationState::kArmed));
  EXPECT_FALSE(MayAskFor(MigrationState{7}));
  Enter(MigrationState::kRearm);
  migration_.OnPacket(From(5, true));
  EXPECT_EQ(migration_.state(), MigrationState::kRearm);
  migration_.OnPacket(From(5, false));
  EXPECT_EQ(migration_.state(), MigrationState::kArmed);
  migration_.OnPacket(From(5, false));
  EXPECT_EQ(migration_.state(), MigrationState::kArmed);
}

TEST_F(PathMigrationTest, WhatWasNotRearmedIsNotArmed) {
  migration_.OnPacket(From(5, false));
  EXPECT_EQ(migration_.state(), MigrationState::kMigrated);
}

TEST_F(PathMigrationTest, ItTakesAllOfTheAlternatePath) {
  Enter(MigrationState::kArmed);
  migration_.Move();
  EXPECT_EQ(migration_.state(), MigrationState::kMigrated);
  EXPECT_EQ(own_.port_num, 2);
  EXPECT_EQ(own_.ah_attr.dlid, 6);
  EXPECT_EQ(own_.pkey_index, 3);
  EXPECT_EQ(own_.timeout, 12);
}

TEST_F(PathMigrationTest, ThePeerHasMovedIfItSaysSoByTheAlternatePath) {
  Enter(MigrationState::kArmed);
  EXPECT_TRUE(migration_.PeerHasMoved(From(6, true), 2));
  EXPECT_FALSE(migration_.PeerHasMoved(From(6, false), 2))
      << "it does not say so";
  EXPECT_FALSE(migration_.PeerHasMoved(From(6, true), 1)) << "another port";
  EXPECT_FALSE(migration_.PeerHasMoved(From(5, true), 2)) << "another source";
  Enter(MigrationState::kRearm);
  EXPECT_FALSE(migration_.PeerHasMoved(From(6, true), 2)) << "not armed";
}

}  // namespace
}  // namespace ibemu::fabric
