#include "fabric/sm/subnet_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mad/wire/port_codes.h"
#include "testing/lab.h"
#include "tests/fabric/routes.h"
#include "tests/fabric/sm/fake_sm.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, wire::Lid, mad::MgmtClass, mad::PortState, mad::SmInfo,
    mad::SmState;
using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::SizeIs;
using testing::Lab, testing::Inbox, testing::DirectedGet, testing::LidGet,
    testing::HeaderOf;

constexpr absl::Duration kSoon = absl::Milliseconds(50);

class Observer : public SubnetObserver {
 public:
  void OnMastership(bool) override {}
  void OnPorts(const std::vector<PortId>& new_ones,
               const std::vector<PortId>& lost) override {
    came.insert(came.end(), new_ones.begin(), new_ones.end());
    went.insert(went.end(), lost.begin(), lost.end());
  }
  void OnNotice(const mad::Notice& notice, const mad::Arrival&) override {
    notices.push_back(notice.trap_number);
  }
  std::vector<PortId> came, went;
  std::vector<mad::TrapNumber> notices;
};

class SubnetManagerTest : public ::testing::Test {
 protected:
  SubnetManagerTest() { lab_.manager().AddObserver(observer_); }

  std::vector<mad::Arrival> Ask(std::string_view node,
                                const mad::Outgoing& packet) {
    Inbox inbox;
    mad::Port& port = lab_.fabric.device(lab_.Find(node)).port(1);
    port.SetListener(&inbox);
    EXPECT_TRUE(port.Transmit(packet).ok());
    lab_.timers.RunPending();
    port.SetListener(nullptr);
    return inbox.arrivals;
  }
  PortId WayOf(std::string_view from, std::string_view to) {
    return Follow(lab_.subnet(), lab_.IdOf(from, 1), lab_.LidOf(to)).end;
  }
  void ExpectAllPairsConnected() {
    const std::vector<PortId> ends = EndPorts(lab_.subnet());
    for (const PortId from : ends) {
      for (const PortId to : ends) {
        if (from == to) continue;
        ASSERT_EQ(
            Follow(lab_.subnet(), from, lab_.subnet().port(to).info.lid).end,
            to)
            << lab_.subnet().PortName(from) << " to "
            << lab_.subnet().PortName(to);
      }
    }
  }

  Lab lab_{"fat-tree:radix=4,levels=2", Lab::kByItsManager};
  Observer observer_;
};

TEST_F(SubnetManagerTest, ConfiguresTheSubnetAsTheStaticOneDoes) {
  Lab fixed("fat-tree:radix=4,levels=2");
  ASSERT_TRUE(ConfigureStatically(fixed.fabric).ok());
  const auto ports = lab_.subnet().ports();
  for (size_t i = 0; i < ports.size(); ++i) {
    const mad::PortInfo& wanted = fixed.subnet().ports()[i].info;
    EXPECT_EQ(ports[i].info.lid, wanted.lid);
    EXPECT_EQ(ports[i].info.port_state, wanted.port_state);
    EXPECT_EQ(ports[i].info.neighbor_mtu, wanted.neighbor_mtu);
  }
  ExpectAllPairsConnected();
}

TEST_F(SubnetManagerTest, EveryEndPortKnowsIt) {
  const NodePort& home = lab_.subnet().port(lab_.manager().port());
  EXPECT_TRUE(lab_.subnet().node(home.node).is_switch());
  EXPECT_EQ(home.number, 0);
  EXPECT_NE(home.info.capability_mask & mad::capability::kIsSm, 0u);
  for (const PortId end : EndPorts(lab_.subnet())) {
    EXPECT_EQ(lab_.subnet().port(end).info.master_sm_lid, home.info.lid);
  }
  EXPECT_EQ(lab_.manager().master().lid, home.info.lid);
}

TEST_F(SubnetManagerTest, AnswersSmInfoByLidAndByDirectedRoute) {
  const Lid lid = lab_.manager().self().lid;
  const auto by_lid = Ask("node-8", LidGet(0, MgmtClass::kSubnetLidRouted, lid,
                                           AttributeId::kSmInfo));
  ASSERT_THAT(by_lid, SizeIs(1));
  const auto info = wire::Decode<SmInfo>(std::span(by_lid[0].mad).subspan(64));
  EXPECT_EQ(info.sm_state, SmState::kMaster);
  EXPECT_EQ(info.guid, lab_.manager().self().guid);
  EXPECT_EQ(info.sm_key, 1u) << "OpenSM's";

  const auto route = SubnetReach(lab_.subnet(), lab_.IdOf("node-1", 1))
                         .PathTo(lab_.manager().port());
  ASSERT_TRUE(route.has_value());
  ASSERT_THAT(*route, SizeIs(1)) << "it is the switch of node-1";
  const auto by_route =
      Ask("node-1", DirectedGet(AttributeId::kSmInfo, {(*route)[0]}));
  ASSERT_THAT(by_route, SizeIs(1));
  const auto again =
      wire::Decode<SmInfo>(std::span(by_route[0].mad).subspan(64));
  EXPECT_EQ(again.sm_state, SmState::kMaster);
  EXPECT_GT(again.act_count, info.act_count);
}

TEST_F(SubnetManagerTest, LeavesWhatItDoesNotKnowToTheNode) {
  const auto answers =
      Ask("node-8", LidGet(1, MgmtClass::kSubnetAdministration,
                           lab_.manager().self().lid, AttributeId::kNotice));
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(HeaderOf(answers[0]).status, mad::MadStatus::kUnsupportedAttribute);
}

class Administration : public GmpHandler {
 public:
  bool Take(const mad::Arrival& arrival) override {
    arrivals.push_back(arrival);
    return true;
  }
  std::vector<mad::Arrival> arrivals;
};

TEST_F(SubnetManagerTest, GivesGmpsOfTheAdministrationToItsHandler) {
  Administration administration;
  lab_.manager().SetGmpHandler(&administration);
  const Lid lid = lab_.manager().self().lid;
  const auto ask = [&](MgmtClass mgmt_class) {
    return Ask("node-8", LidGet(1, mgmt_class, lid, AttributeId::kNotice));
  };
  EXPECT_THAT(ask(MgmtClass::kSubnetAdministration), IsEmpty());
  EXPECT_THAT(administration.arrivals, SizeIs(1));
  ask(MgmtClass::kDeviceAdministration);
  EXPECT_THAT(administration.arrivals, SizeIs(1));
  lab_.manager().SetGmpHandler(nullptr);
}

TEST_F(SubnetManagerTest, RoutesAroundACutAndBack) {
  lab_.SetLink(lab_.Find("leaf-1"), 3, false);
  lab_.timers.RunFor(kSoon);
  ExpectAllPairsConnected();
  lab_.SetLink(lab_.Find("leaf-1"), 3, true);
  EXPECT_EQ(lab_.PortOf("leaf-1", 3).info.port_state, PortState::kInit);
  lab_.timers.RunFor(kSoon);
  EXPECT_EQ(lab_.PortOf("leaf-1", 3).info.port_state, PortState::kActive);
  ExpectAllPairsConnected();
  EXPECT_THAT(observer_.came, IsEmpty());
  EXPECT_THAT(observer_.went, IsEmpty());
}

TEST_F(SubnetManagerTest, ANodeThatReturnsHasItsOldLid) {
  const Lid lid = lab_.LidOf("node-5");
  const PortId port = lab_.IdOf("node-5", 1);
  lab_.fabric.SetNode(lab_.Find("node-5"), false);
  lab_.timers.RunFor(kSoon);
  EXPECT_THAT(observer_.went, ElementsAre(port));
  lab_.fabric.SetNode(lab_.Find("node-5"), true);
  EXPECT_EQ(lab_.LidOf("node-5"), Lid::kUnassigned);
  lab_.timers.RunFor(kSoon);
  EXPECT_EQ(lab_.LidOf("node-5"), lid);
  EXPECT_EQ(lab_.PortOf("node-5", 1).info.port_state, PortState::kActive);
  EXPECT_THAT(observer_.came, ElementsAre(port));
  ExpectAllPairsConnected();
}

TEST_F(SubnetManagerTest, ASwitchThatReturnsHasItsRoutes) {
  for (const char* name : {"spine-2", "leaf-3"}) {
    lab_.fabric.SetNode(lab_.Find(name), false);
    lab_.timers.RunFor(kSoon);
    lab_.fabric.SetNode(lab_.Find(name), true);
    lab_.timers.RunFor(kSoon);
    ExpectAllPairsConnected();
  }
}

TEST_F(SubnetManagerTest, ASwitchThatWasOffForAMomentHasItsRoutes) {
  lab_.fabric.SetNode(lab_.Find("spine-2"), false);
  lab_.fabric.SetNode(lab_.Find("spine-2"), true);
  lab_.timers.RunFor(kSoon);
  ExpectAllPairsConnected();
}

TEST_F(SubnetManagerTest, ADeviceThatIsPluggedInAgainWorks) {
  ASSERT_TRUE(lab_.fabric.RemoveDevice(lab_.Find("node-6")).ok());
  lab_.timers.RunFor(kSoon);
  ASSERT_TRUE(lab_.fabric.AddDevice(lab_.Find("node-6")).ok());
  lab_.timers.RunFor(kSoon);
  ExpectAllPairsConnected();
  EXPECT_EQ(WayOf("node-1", "node-6"), lab_.IdOf("node-6", 1));
}

TEST_F(SubnetManagerTest, TrapsOfOneCutMakeOneSweep) {
  const uint32_t before = lab_.manager().self().act_count;
  lab_.fabric.SetNode(lab_.Find("spine-1"), false);  // four leaves tell it
  lab_.timers.RunFor(kSoon);
  EXPECT_THAT(observer_.notices,
              ::testing::Each(mad::TrapNumber::kLinkStateChange));
  EXPECT_GE(observer_.notices.size(), 4u);
  EXPECT_EQ(lab_.manager().self().act_count, before + 1);
}

TEST_F(SubnetManagerTest, RepressesTraps) {
  lab_.SetLink(lab_.Find("node-8"), 1, false);
  lab_.fabric.device(lab_.Find("node-1")).SetNodeDescription("renamed");
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_THAT(observer_.notices, ElementsAre(mad::TrapNumber::kLinkStateChange,
                                             mad::TrapNumber::kLocalChange));
  const uint64_t sent = lab_.fabric.totals().sent;
  lab_.timers.RunFor(absl::Minutes(1));
  EXPECT_EQ(lab_.fabric.totals().sent, sent);
}

TEST_F(SubnetManagerTest, NoticesWhatNoTrapTold) {
  lab_.PortOf("leaf-4", 0).info.master_sm_lid = Lid::kUnassigned;
  lab_.SetLink(lab_.Find("node-8"), 1, false);
  lab_.SetLink(lab_.Find("node-8"), 1, true);
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_EQ(lab_.PortOf("node-8", 1).info.port_state, PortState::kInit);
  lab_.timers.RunFor(absl::Seconds(10));
  EXPECT_EQ(lab_.PortOf("node-8", 1).info.port_state, PortState::kActive);
}

TEST_F(SubnetManagerTest, ATrapThatSomebodyMadeUpMakesNoSweep) {
  const uint32_t before = lab_.manager().self().act_count;
  mad::Outgoing packet =
      LidGet(0, MgmtClass::kSubnetLidRouted, lab_.manager().self().lid,
             AttributeId::kNotice);
  wire::Put<&mad::MadHeader::method>(packet.mad, mad::Method::kTrap);
  ASSERT_TRUE(
      lab_.fabric.device(lab_.Find("node-8")).port(1).Transmit(packet).ok());
  lab_.timers.RunFor(absl::Minutes(1));
  EXPECT_THAT(observer_.notices, SizeIs(1));
  EXPECT_EQ(lab_.manager().self().act_count, before);
}

TEST_F(SubnetManagerTest, IsSilentWhileNothingHappens) {
  const uint64_t sent = lab_.fabric.totals().sent;
  const uint32_t before = lab_.manager().self().act_count;
  lab_.timers.RunFor(absl::Hours(1));
  EXPECT_EQ(lab_.fabric.totals().sent, sent);
  EXPECT_EQ(lab_.manager().self().act_count, before);
}

TEST_F(SubnetManagerTest, RoutesGroupsAgainAfterACut) {
  const Lid group{0xc005};
  lab_.manager().SetMembers(
      group, {.receivers = {lab_.IdOf("node-1", 1), lab_.IdOf("node-8", 1)},
              .senders = {}});
  const auto spine_has_it = [&](const char* name) {
    const SwitchState& state = *lab_.subnet().node(lab_.Find(name)).sw;
    return state.multicast.Contains(group, 1) &&
           state.multicast.Contains(group, 4);
  };
  ASSERT_NE(spine_has_it("spine-1"), spine_has_it("spine-2"));
  const char* used = spine_has_it("spine-1") ? "spine-1" : "spine-2";
  const char* other = spine_has_it("spine-1") ? "spine-2" : "spine-1";
  lab_.fabric.SetNode(lab_.Find(used), false);
  lab_.timers.RunFor(kSoon);
  EXPECT_TRUE(spine_has_it(other));
}

TEST(SubnetManagerHomeTest, WhoseNodeIsOffStartsWhenItIsThere) {
  Lab lab(testing::Chain(1));
  lab.fabric.SetNode(lab.Find("sw1"), false);
  ASSERT_TRUE(StartSubnetManager(lab.fabric).ok());
  lab.timers.RunFor(absl::Minutes(1));
  EXPECT_EQ(lab.LidOf("host-1"), wire::Lid::kUnassigned);
  lab.fabric.SetNode(lab.Find("sw1"), true);
  lab.timers.RunFor(absl::Minutes(1));
  EXPECT_NE(lab.LidOf("host-1"), wire::Lid::kUnassigned);
  EXPECT_EQ(lab.PortOf("host-1", 1).info.port_state, PortState::kActive);
}

TEST(SubnetManagerHomeTest, WithoutASwitchItLivesOnTheLastAdapter) {
  Lab lab("back-to-back", Lab::kByItsManager);
  EXPECT_EQ(lab.manager().port(), lab.IdOf("node-2", 1));
  EXPECT_EQ(lab.PortOf("node-1", 1).info.master_sm_lid, lab.LidOf("node-2"));
  EXPECT_EQ(lab.PortOf("node-1", 1).info.port_state, PortState::kActive);
  // No switch, hence no trap: it sees its own port.
  lab.SetLink(lab.Find("node-1"), 1, false);
  lab.timers.RunFor(kSoon);
  lab.SetLink(lab.Find("node-1"), 1, true);
  lab.timers.RunFor(kSoon);
  EXPECT_EQ(lab.PortOf("node-1", 1).info.port_state, PortState::kActive);
}

TEST(SubnetManagerHomeTest, ManagesTheSubnetThatItBelongsTo) {
  Lab lab(kTwoIslands, Lab::kByItsManager);
  EXPECT_EQ(lab.LidOf("a"), Lid{1});
  EXPECT_EQ(lab.LidOf("left", 0), Lid{2});
  EXPECT_EQ(lab.LidOf("b"), Lid::kUnassigned);
  EXPECT_EQ(lab.PortOf("b", 1).info.port_state, PortState::kInit);
}

TEST(SubnetManagerHomeTest, SaysHowManyLidsAreMissing) {
  Lab lab("fat-tree:radix=64,levels=3");
  const absl::Status status = StartSubnetManager(lab.fabric);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "the topology needs 70656 LIDs, a subnet has 49151");
  EXPECT_EQ(lab.LidOf("node-1"), Lid::kUnassigned);
  EXPECT_EQ(lab.fabric.subnet_manager(), nullptr);
}

}  // namespace
}  // namespace ibemu::fabric
