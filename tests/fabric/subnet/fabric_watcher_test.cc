#include "fabric/subnet/fabric_watcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "testing/lab.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, wire::Lid, mad::MgmtClass;
using ::testing::Contains, ::testing::ElementsAre, ::testing::IsEmpty,
    ::testing::Pair;
using testing::Lab, testing::Chain, testing::LidGet;

struct Recorder : FabricWatcher {
  void OnPortChange(PortId port) override { ports.push_back(port); }
  void OnTrap(PortId port, const mad::Notice& notice, bool repeated) override {
    EXPECT_EQ(notice.trap_number, mad::TrapNumber::kLinkStateChange);
    traps.emplace_back(port, repeated);
  }
  void OnDrop(const DroppedPacket& dropped) override {
    drops.emplace_back(dropped.port, dropped.cause);
    faults.push_back(dropped.fault);
  }
  std::vector<PortId> ports;
  std::vector<std::pair<PortId, bool>> traps;
  std::vector<std::pair<PortId, DropCause>> drops;
  std::vector<uint32_t> faults;
};

struct FabricWatcherTest : ::testing::Test {
  FabricWatcherTest() { lab.fabric.AddWatcher(recorder); }
  ~FabricWatcherTest() override { lab.fabric.RemoveWatcher(recorder); }

  PortId Id(topology::NodeId node, int port) {
    return lab.subnet().port_id(node, port);
  }
  void Ask(Lid lid = Lid{2}) {
    lab.Send(
        LidGet(0, MgmtClass::kSubnetLidRouted, lid, AttributeId::kNodeInfo));
  }

  Lab lab{Chain(2), Lab::kStatically};
  Recorder recorder;
};

TEST_F(FabricWatcherTest, HearsOfBothEndsOfALinkThatGoesDown) {
  lab.SetLink(lab.Host(2), 1, false);
  EXPECT_THAT(recorder.ports, Contains(Id(lab.Host(2), 1)));
  EXPECT_THAT(recorder.ports, Contains(Id(lab.Switch(2), 2)));
}

TEST_F(FabricWatcherTest, HearsOfTrapsAndOfTheirRepetition) {
  const PortId sw = Id(lab.Switch(2), 0);
  lab.subnet().port(sw).info.master_sm_lid = Lid{1};
  lab.subnet().port(sw).info.port_state = mad::PortState::kActive;
  lab.SetLink(lab.Host(2), 1, false);
  EXPECT_THAT(recorder.traps, ElementsAre(Pair(sw, false)));
  lab.timers.RunFor(absl::Seconds(10));
  ASSERT_GE(recorder.traps.size(), 2u);
  EXPECT_THAT(recorder.traps[1], Pair(sw, true));
}

TEST_F(FabricWatcherTest, HearsWhatAFaultDropsAndWhichOneItWas) {
  lab.AddFault(lab.Switch(1), 2, Fabric::Direction::kTransmit, {.loss = 0});
  const auto fault = lab.fabric.AddFault(
      lab.Switch(1), 2, Fabric::Direction::kTransmit, {.corrupt = 1});
  ASSERT_TRUE(fault.ok());
  Ask();
  EXPECT_THAT(recorder.drops, ElementsAre(Pair(Id(lab.Switch(1), 2),
                                               DropCause::kFaultCorrupt)));
  EXPECT_THAT(recorder.faults, ElementsAre(fault->number));
}

TEST_F(FabricWatcherTest, HearsWhereAPacketHadNoWay) {
  Ask(Lid{60});
  EXPECT_THAT(recorder.drops,
              ElementsAre(Pair(Id(lab.Switch(1), 1), DropCause::kNoRoute)));
  recorder.drops.clear();
  lab.SetLink(lab.Host(2), 1, false);
  Ask();
  EXPECT_THAT(recorder.drops,
              ElementsAre(Pair(Id(lab.Switch(2), 2), DropCause::kLinkDown)));
  EXPECT_THAT(recorder.faults, ElementsAre(0, 0));
}

TEST_F(FabricWatcherTest, HearsOfWhatWasInACableThatIsCut) {
  lab.AddFault(lab.Switch(1), 2, Fabric::Direction::kTransmit,
               {.delay = absl::Milliseconds(3)});
  Ask();
  lab.SetLink(lab.Switch(1), 2, false);
  lab.timers.RunFor(absl::Milliseconds(5));
  EXPECT_THAT(recorder.drops,
              ElementsAre(Pair(Id(lab.Switch(1), 2), DropCause::kCut)));
}

TEST_F(FabricWatcherTest, HearsNothingOfWhatArrives) {
  Ask();
  EXPECT_THAT(recorder.drops, IsEmpty());
  EXPECT_THAT(recorder.traps, IsEmpty());
}

TEST(DropCauseTest, EveryCauseHasItsName) {
  for (int cause = 0; cause <= static_cast<int>(DropCause::kDelayFull);
       ++cause) {
    EXPECT_NE(NameOf(static_cast<DropCause>(cause)), "unknown") << cause;
  }
}

}  // namespace
}  // namespace ibemu::fabric
