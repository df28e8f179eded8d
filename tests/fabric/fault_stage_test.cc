#include "fabric/fault_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fabric/small_fabric.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, mad::Lid, mad::MgmtClass;
using ::testing::IsEmpty, ::testing::SizeIs;

constexpr absl::Time kNow = absl::UnixEpoch();

TEST(FaultStageTest, LosesAsManyAsItsChanceSays) {
  FaultStage stage({.loss = 0.25}, Random(7));
  int lost = 0;
  for (int i = 0; i < 10000; ++i) lost += stage.Decide(kNow).lost ? 1 : 0;
  EXPECT_NEAR(lost, 2500, 150);
}

TEST(FaultStageTest, LosesTheSamePacketsWhateverElseGoesWrong) {
  FaultStage one({.loss = 0.5}, Random(7));
  FaultStage other({.loss = 0.5, .corrupt = 0.5, .reorder = 0.5}, Random(7));
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(one.Decide(kNow).lost, other.Decide(kNow).lost);
  }
}

TEST(FaultStageTest, KeepsTheOrderInSpiteOfJitter) {
  FaultStage stage(
      {.delay = absl::Microseconds(10), .jitter = absl::Microseconds(50)},
      Random(7));
  absl::Time last = kNow;
  for (int i = 0; i < 1000; ++i) {
    const absl::Time now = kNow + i * absl::Microseconds(1);
    const absl::Time arrival = stage.Decide(now).arrival;
    EXPECT_GE(arrival, last);
    EXPECT_GE(arrival, now + absl::Microseconds(10));
    last = arrival;
  }
}

TEST(FaultStageTest, LetsOthersOvertakeAReorderedPacket) {
  FaultStage stage({.reorder = 0.5}, Random(7));
  int overtaken = 0;
  absl::Time last = kNow;
  for (int i = 0; i < 100; ++i) {
    const absl::Time arrival = stage.Decide(kNow).arrival;
    if (arrival < last) ++overtaken;
    last = arrival;
  }
  EXPECT_GT(overtaken, 10);
}

// The faults of the link between the two switches, as host 1 feels them.
struct LinkFaultsTest : ::testing::Test {
  LinkFaultsTest() : row(2) { row.Configure(); }

  void Set(const LinkFaults& faults) {
    ASSERT_TRUE(row.fabric
                    .SetFaults(RowFabric::Switch(1), 2,
                               Fabric::Direction::kTransmit, faults)
                    .ok());
  }
  std::vector<mad::Arrival> Ask() {
    return row.Send(
        LidGet(0, MgmtClass::kSubnetLidRouted, Lid{2}, AttributeId::kNodeInfo));
  }

  RowFabric row;
};

TEST_F(LinkFaultsTest, LosesOneDirectionOnly) {
  Set({.loss = 1});
  EXPECT_THAT(Ask(), IsEmpty());
  EXPECT_EQ(row.PortOf(RowFabric::Switch(1), 2).traffic.xmit_packets, 1u);
  EXPECT_EQ(row.PortOf(RowFabric::Switch(2), 1).traffic.rcv_packets, 0u);

  row.Host2().SetListener(&row.inbox);
  ASSERT_TRUE(row.Host2()
                  .Transmit(LidGet(0, MgmtClass::kSubnetLidRouted, Lid{11},
                                   AttributeId::kNodeInfo))
                  .ok());
  row.timers.RunPending();
  EXPECT_EQ(row.PortOf(RowFabric::Switch(1), 2).traffic.rcv_packets, 1u);
}

TEST_F(LinkFaultsTest, LosesWhatEntersThroughAPort) {
  ASSERT_TRUE(row.fabric
                  .SetFaults(RowFabric::Switch(2), 1,
                             Fabric::Direction::kReceive, {.loss = 1})
                  .ok());
  EXPECT_THAT(Ask(), IsEmpty());
  EXPECT_TRUE(row.PortOf(RowFabric::Switch(1), 2).faulty);
}

TEST_F(LinkFaultsTest, CountsCorruptedPacketsWhereTheyArrive) {
  Set({.corrupt = 1});
  EXPECT_THAT(Ask(), IsEmpty());
  const EventCounters& events = row.PortOf(RowFabric::Switch(2), 1).Events();
  EXPECT_EQ(events.symbol_errors, 1u);
  EXPECT_EQ(events.rcv_errors(), 1u);
}

TEST_F(LinkFaultsTest, DelaysByTimeAlone) {
  Set({.delay = absl::Milliseconds(3)});
  EXPECT_THAT(Ask(), IsEmpty());
  row.timers.RunFor(absl::Microseconds(2999));
  EXPECT_THAT(row.inbox.arrivals, IsEmpty());
  row.timers.RunFor(absl::Microseconds(1));
  EXPECT_THAT(row.inbox.arrivals, SizeIs(1));
  EXPECT_TRUE(row.timers.idle());
}

TEST_F(LinkFaultsTest, DeliversADuplicateTwice) {
  Set({.duplicate = 1});
  Ask();
  row.timers.RunFor(absl::Milliseconds(1));
  EXPECT_THAT(row.inbox.arrivals, SizeIs(2));
}

TEST_F(LinkFaultsTest, LosesWhatWasInACableThatIsCut) {
  Set({.delay = absl::Milliseconds(3)});
  Ask();
  ASSERT_TRUE(row.fabric.SetLink(RowFabric::Switch(1), 2, false).ok());
  ASSERT_TRUE(row.fabric.SetLink(RowFabric::Switch(1), 2, true).ok());
  row.Activate();
  row.timers.RunFor(absl::Milliseconds(5));
  EXPECT_THAT(row.inbox.arrivals, IsEmpty());
}

TEST_F(LinkFaultsTest, EndWithTheFabric) {
  testing::VirtualTimers timers;
  {
    Fabric fabric(Row(0), timers, {});
    ASSERT_TRUE(fabric
                    .SetFaults(NodeId{0}, 1, Fabric::Direction::kTransmit,
                               {.delay = absl::Seconds(1)})
                    .ok());
    ASSERT_TRUE(fabric.device(NodeId{0})
                    .port(1)
                    .Transmit(DirectedGet(AttributeId::kNodeInfo, {1}))
                    .ok());
    timers.RunPending();
  }
  timers.RunFor(absl::Seconds(2));  // must not touch what is gone
  EXPECT_TRUE(timers.idle());
}

TEST_F(LinkFaultsTest, AreTakenAwayByNoFaults) {
  Set({.loss = 1});
  Set({});
  EXPECT_THAT(Ask(), SizeIs(1));
}

TEST_F(LinkFaultsTest, HitTheSamePacketsWithTheSameSeed) {
  const auto run = [](uint64_t seed) {
    RowFabric one(2, seed);
    one.Configure();
    EXPECT_TRUE(one.fabric
                    .SetFaults(RowFabric::Switch(1), 2,
                               Fabric::Direction::kTransmit, {.loss = 0.5})
                    .ok());
    std::vector<size_t> answers;
    for (int i = 0; i < 64; ++i) {
      answers.push_back(one.Send(LidGet(0, MgmtClass::kSubnetLidRouted, Lid{2},
                                        AttributeId::kNodeInfo))
                            .size());
    }
    return answers;
  };
  EXPECT_EQ(run(5), run(5));
  EXPECT_NE(run(5), run(6));
}

}  // namespace
}  // namespace ibemu::fabric
