#include "fabric/faults/fault_lane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "fabric/packet/transport.h"
#include "testing/lab.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, wire::Lid, mad::MgmtClass;
using ::testing::IsEmpty, ::testing::SizeIs;
using testing::Lab, testing::Chain, testing::DirectedGet, testing::LidGet;

constexpr absl::Time kNow = absl::UnixEpoch();

FaultLane LaneOf(const LinkFaults& faults) {
  FaultLane lane;
  lane.Add(1, FaultStage(faults, Random(7)));
  return lane;
}

TEST(FaultLaneTest, KeepsTheOrderInSpiteOfJitter) {
  FaultLane lane = LaneOf(
      {.delay = absl::Microseconds(50), .jitter = absl::Microseconds(40)});
  absl::Time last = kNow;
  for (int i = 0; i < 1000; ++i) {
    const absl::Time now = kNow + i * absl::Microseconds(1);
    const absl::Time arrival = lane.Decide(Packet(), now).arrival;
    EXPECT_GE(arrival, last);
    EXPECT_GE(arrival, now + absl::Microseconds(10));
    last = arrival;
  }
}

TEST(FaultLaneTest, LetsOthersOvertakeAReorderedPacket) {
  FaultLane lane = LaneOf({.reorder = 0.5});
  int overtaken = 0;
  absl::Time last = kNow;
  for (int i = 0; i < 100; ++i) {
    const absl::Time arrival = lane.Decide(Packet(), kNow).arrival;
    if (arrival < last) ++overtaken;
    last = arrival;
  }
  EXPECT_GT(overtaken, 10);
}

TEST(FaultLaneTest, AddsUpTheDelaysAndDuplicatesOfItsFaults) {
  FaultLane lane = LaneOf({.duplicate = 1, .delay = absl::Microseconds(3)});
  lane.Add(2, FaultStage({.duplicate = 1, .delay = absl::Microseconds(4)},
                         Random(8)));
  const FaultLane::Fate fate = lane.Decide(Packet(), kNow);
  EXPECT_EQ(fate.arrival, kNow + absl::Microseconds(7));
  EXPECT_EQ(fate.copies, 3);
}

TEST(FaultLaneTest, NamesTheFaultThatHoldsAPacketUpLongest) {
  FaultLane lane = LaneOf({.delay = absl::Microseconds(999)});
  EXPECT_EQ(lane.Decide(Packet(), kNow).delayer, 0u) << "too short to tell of";
  lane.Add(2, FaultStage({.delay = absl::Milliseconds(3)}, Random(8)));
  lane.Add(3, FaultStage({.delay = absl::Milliseconds(2)}, Random(9)));
  EXPECT_EQ(lane.Decide(Packet(), kNow).delayer, 2u);
}

TEST(FaultLaneTest, OneFaultDoesTheSameWithAndWithoutAnother) {
  FaultLane alone = LaneOf({.loss = 0.1});
  FaultLane both;
  both.Add(2, FaultStage({.loss = 0.5}, Random(8)));
  both.Add(1, FaultStage({.loss = 0.1}, Random(7)));
  int more = 0;
  for (int i = 0; i < 1000; ++i) {
    if (i == 500) both.Remove(2);
    const bool lost = alone.Decide(Packet(), kNow).lost;
    const bool lost_too = both.Decide(Packet(), kNow).lost;
    EXPECT_TRUE(lost_too || !lost);
    if (lost_too && !lost) ++more;
    if (i >= 500) {
      EXPECT_EQ(lost_too, lost);
    }
  }
  EXPECT_NEAR(more, 225, 50);
}

TEST(FaultLaneTest, CountsWhatEachFaultDid) {
  FaultLane lane = LaneOf({.loss = 0.25});
  lane.Add(2, FaultStage({.corrupt = 0.5}, Random(8)));
  lane.Add(
      3,
      FaultStage({.duplicate = 1, .reorder = 1, .delay = absl::Microseconds(1)},
                 Random(9)));
  constexpr uint64_t kPackets = 1000;
  for (uint64_t i = 0; i < kPackets; ++i) lane.Decide(Packet(), kNow);

  const FaultCounts& first = lane.CountsOf(1);
  EXPECT_NEAR(first.lost, 250, 50);
  EXPECT_EQ(first, (FaultCounts{.packets = kPackets, .lost = first.lost}));
  // What the first one lost does not come by the others.
  const FaultCounts& second = lane.CountsOf(2);
  EXPECT_EQ(second, (FaultCounts{.packets = kPackets - first.lost,
                                 .corrupted = second.corrupted}));
  EXPECT_GT(second.corrupted, 0u);
  const uint64_t rest = second.packets - second.corrupted;
  EXPECT_EQ(lane.CountsOf(3), (FaultCounts{.packets = rest,
                                           .duplicated = rest,
                                           .reordered = rest,
                                           .delayed = rest}));
}

TEST(FaultLaneTest, WhatAFaultDoesNotConcernTakesNothingOfItsLuck) {
  const PacketFilter mads{.kind = PacketFilter::Kind::kMads};
  Packet verbs;
  verbs.transport = std::make_shared<Transport>();
  FaultLane alone = LaneOf({.loss = 0.5, .concerns = mads});
  FaultLane mixed = LaneOf({.loss = 0.5, .concerns = mads});
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(mixed.Decide(verbs, kNow).lost);
    EXPECT_EQ(alone.Decide(Packet(), kNow).lost,
              mixed.Decide(Packet(), kNow).lost);
  }
  EXPECT_EQ(alone.CountsOf(1), mixed.CountsOf(1));
}

TEST(FaultLaneTest, TellsWhichFaultItWas) {
  FaultLane lane = LaneOf({.loss = 0});
  lane.Add(2, FaultStage({.corrupt = 1}, Random(8)));
  lane.Add(3, FaultStage({.loss = 1}, Random(9)));
  EXPECT_EQ(lane.Decide(Packet(), kNow).culprit, 2u);
}

TEST(FaultLaneTest, LongPacketsMeetMoreBitErrorsThanShortOnes) {
  const auto corrupted = [](const Packet& packet) {
    FaultLane lane = LaneOf({.ber = 1e-5});
    for (int i = 0; i < 10'000; ++i) lane.Decide(packet, kNow);
    return lane.CountsOf(1).corrupted;
  };
  Packet mad;  // 2336 bits
  Packet large;
  Transport transport;
  transport.size = 4096;
  large.transport = std::make_shared<Transport>(transport);  // 33,000
  EXPECT_NEAR(corrupted(mad), 231, 60);  // 1 - (1 - 1e-5)^2336
  EXPECT_NEAR(corrupted(large), 2810, 200);
}

// The faults of the link between the two switches, as host 1 feels them.
struct LinkFaultsTest : ::testing::Test {
  FaultId Add(const LinkFaults& faults) {
    return *lab.fabric.AddFault(lab.Switch(1), 2, Fabric::Direction::kTransmit,
                                faults);
  }
  std::vector<mad::Arrival> Ask() {
    return lab.Send(
        LidGet(0, MgmtClass::kSubnetLidRouted, Lid{2}, AttributeId::kNodeInfo));
  }

  Lab lab{Chain(2), Lab::kStatically};
};

TEST_F(LinkFaultsTest, LosesOneDirectionOnly) {
  Add({.loss = 1});
  EXPECT_THAT(Ask(), IsEmpty());
  EXPECT_EQ(lab.PortOf(lab.Switch(1), 2).traffic.xmit_packets, 1u);
  EXPECT_EQ(lab.PortOf(lab.Switch(2), 1).traffic.rcv_packets, 0u);

  lab.HostPort(2).SetListener(&lab.inbox);
  lab.Transmit(2, LidGet(0, MgmtClass::kSubnetLidRouted, lab.LidOf("sw1", 0),
                         AttributeId::kNodeInfo));
  lab.timers.RunPending();
  EXPECT_EQ(lab.PortOf(lab.Switch(1), 2).traffic.rcv_packets, 1u);
}

TEST_F(LinkFaultsTest, LosesWhatEntersThroughAPort) {
  lab.AddFault(lab.Switch(2), 1, Fabric::Direction::kReceive, {.loss = 1});
  EXPECT_THAT(Ask(), IsEmpty());
  EXPECT_TRUE(lab.PortOf(lab.Switch(1), 2).faulty);
}

TEST_F(LinkFaultsTest, CountsCorruptedPacketsWhereTheyArrive) {
  Add({.corrupt = 1});
  EXPECT_THAT(Ask(), IsEmpty());
  const EventCounters& events = lab.PortOf(lab.Switch(2), 1).Events();
  EXPECT_EQ(events.symbol_errors, 1u);
  EXPECT_EQ(events.rcv_errors(), 1u);
}

TEST_F(LinkFaultsTest, CountsEachWrongBitAsASymbolError) {
  Add({.ber = 0.01});
  for (int i = 0; i < 10; ++i) EXPECT_THAT(Ask(), IsEmpty());
  const EventCounters& events = lab.PortOf(lab.Switch(2), 1).Events();
  EXPECT_EQ(events.rcv_errors(), 10u);
  EXPECT_NEAR(static_cast<double>(events.symbol_errors), 234, 60);
}

TEST_F(LinkFaultsTest, MayConcernOneAttributeAlone) {
  Add({.loss = 1,
       .concerns = {.kind = PacketFilter::Kind::kMads,
                    .mgmt_class = MgmtClass::kSubnetLidRouted,
                    .attribute = AttributeId::kPortInfo}});
  EXPECT_THAT(Ask(), SizeIs(1));
  EXPECT_THAT(lab.Send(LidGet(0, MgmtClass::kSubnetLidRouted, Lid{2},
                              AttributeId::kPortInfo)),
              IsEmpty());
}

TEST_F(LinkFaultsTest, DelaysByTimeAlone) {
  Add({.delay = absl::Milliseconds(3)});
  EXPECT_THAT(Ask(), IsEmpty());
  lab.timers.RunFor(absl::Microseconds(2999));
  EXPECT_THAT(lab.inbox.arrivals, IsEmpty());
  lab.timers.RunFor(absl::Microseconds(1));
  EXPECT_THAT(lab.inbox.arrivals, SizeIs(1));
  EXPECT_TRUE(lab.timers.idle());
}

TEST_F(LinkFaultsTest, DeliversADuplicateTwice) {
  Add({.duplicate = 1});
  Ask();
  lab.timers.RunFor(absl::Milliseconds(1));
  EXPECT_THAT(lab.inbox.arrivals, SizeIs(2));
}

TEST_F(LinkFaultsTest, LosesWhatWasInACableThatIsCut) {
  Add({.delay = absl::Milliseconds(3)});
  Ask();
  lab.SetLink(lab.Switch(1), 2, false);
  lab.SetLink(lab.Switch(1), 2, true);
  lab.Activate();
  lab.timers.RunFor(absl::Milliseconds(5));
  EXPECT_THAT(lab.inbox.arrivals, IsEmpty());
}

TEST_F(LinkFaultsTest, EndWithTheFabric) {
  testing::VirtualTimers timers;
  {
    Fabric fabric(Chain(0), timers, {});
    ASSERT_TRUE(fabric
                    .AddFault(topology::NodeId{0}, 1,
                              Fabric::Direction::kTransmit,
                              {.delay = absl::Seconds(1)})
                    .ok());
    ASSERT_TRUE(fabric.device(topology::NodeId{0})
                    .port(1)
                    .Transmit(DirectedGet(AttributeId::kNodeInfo, {1}))
                    .ok());
    timers.RunPending();
  }
  timers.RunFor(absl::Seconds(2));  // must not touch what is gone
  EXPECT_TRUE(timers.idle());
}

TEST_F(LinkFaultsTest, AreTakenAwayOneByOne) {
  const FaultId first = Add({.loss = 1});
  const FaultId second = Add({.loss = 1});
  lab.fabric.RemoveFault(first);
  EXPECT_THAT(Ask(), IsEmpty());
  EXPECT_EQ(lab.fabric.CountsOf(second).lost, 1u);
  lab.fabric.RemoveFault(second);
  EXPECT_THAT(Ask(), SizeIs(1));
  EXPECT_FALSE(lab.PortOf(lab.Switch(1), 2).faulty);
}

// Which of 64 questions get an answer in spite of losses on their way.
std::vector<size_t> Answers(uint64_t fabric_seed, const FaultChance& chance) {
  constexpr int kQuestions = 64;
  Lab lab(Chain(2), Lab::kStatically, fabric_seed);
  lab.AddFault(lab.Switch(1), 2, Fabric::Direction::kTransmit, {.loss = 0.5},
               chance);
  std::vector<size_t> answers;
  answers.reserve(kQuestions);
  for (int i = 0; i < kQuestions; ++i) {
    answers.push_back(lab.Send(LidGet(0, MgmtClass::kSubnetLidRouted, Lid{2},
                                      AttributeId::kNodeInfo))
                          .size());
  }
  return answers;
}

TEST_F(LinkFaultsTest, HitTheSamePacketsWithTheSameSeed) {
  EXPECT_EQ(Answers(5, {}), Answers(5, {}));
  EXPECT_NE(Answers(5, {}), Answers(6, {}));
}

TEST_F(LinkFaultsTest, HaveTheirOwnLuckIfTheirStreamIsTheirOwn) {
  EXPECT_EQ(Answers(5, {.stream = "a"}), Answers(5, {.stream = "a"}));
  EXPECT_NE(Answers(5, {.stream = "a"}), Answers(5, {.stream = "b"}));
}

TEST_F(LinkFaultsTest, DependOnTheirOwnSeedAlone) {
  EXPECT_EQ(Answers(5, {.seed = 9}), Answers(6, {.seed = 9}));
  EXPECT_NE(Answers(5, {.seed = 9}), Answers(5, {.seed = 10}));
}

}  // namespace
}  // namespace ibemu::fabric
