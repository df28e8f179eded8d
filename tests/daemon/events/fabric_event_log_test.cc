#include "daemon/events/fabric_event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "tests/daemon/event_recorder.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::IsEmpty, ::testing::SizeIs;
using testing::Lab, testing::Chain, testing::LidGet;

class FabricEventLogTest : public ::testing::Test {
 protected:
  FabricEventLogTest() { log_.Add(recorder_); }

  Lab lab_{Chain(1), Lab::kStatically};
  FabricEventLog log_{lab_.timers, lab_.fabric, absl::ZeroDuration()};
  EventRecorder recorder_;
};

TEST_F(FabricEventLogTest, ALinkThatGoesDownIsOneEventWithBothEnds) {
  lab_.SetLink(lab_.Host(1), 1, false);
  const json ends = {{"a", {{"node", "host-1"}, {"port", 1}}},
                     {"b", {{"node", "sw1"}, {"port", 1}}}};
  json down = ends;
  down["state"] = "down";
  EXPECT_EQ(recorder_.Of("link"), json::array({down}));
  lab_.SetLink(lab_.Host(1), 1, true);
  json up = ends;
  up["state"] = "up";
  EXPECT_EQ(recorder_.Of("link"), json::array({down, up}));
}

TEST_F(FabricEventLogTest, APortTellsItsStateAndWhoManagesIt) {
  fabric::Subnet& subnet = lab_.subnet();
  const fabric::PortId id = subnet.port_id(lab_.Host(1), 1);
  subnet.port(id).info.master_sm_lid = wire::Lid{2};
  lab_.fabric.links().SetLogicalState(id, mad::PortState::kDown);
  const json down = {{"node", "host-1"}, {"port", 1}, {"state", "down"},
                     {"lid", 1},         {"lmc", 0},  {"sm_lid", 2}};
  json init = down;
  init["state"] = "init";
  json of_host = json::array();
  const json ports = recorder_.Of("port");
  for (const json& event : ports) {
    if (event["node"] == "host-1") of_host.push_back(event);
  }
  EXPECT_EQ(of_host, json::array({down, init}));
}

TEST_F(FabricEventLogTest, ASubnetManagerComesAndGoesWithItsPort) {
  lab_.HostPort(1).SetIsSm(true);
  const json there = {{"node", "host-1"}, {"port", 1}, {"is_sm", true}};
  EXPECT_EQ(recorder_.Of("sm"), json::array({there}));
  ASSERT_TRUE(lab_.fabric.RemoveDevice(lab_.Host(1)).ok());
  json gone = there;
  gone["is_sm"] = false;
  EXPECT_EQ(recorder_.Of("sm"), json::array({there, gone}));
}

TEST_F(FabricEventLogTest, NodesAndDevicesGoAndComeBack) {
  lab_.fabric.SetNode(lab_.Host(2), false);
  lab_.fabric.SetNode(lab_.Host(2), true);
  ASSERT_TRUE(lab_.fabric.RemoveDevice(lab_.Host(2)).ok());
  ASSERT_TRUE(lab_.fabric.AddDevice(lab_.Host(2)).ok());
  EXPECT_EQ(recorder_.Of("node"),
            json::array({json{{"node", "host-2"}, {"state", "down"}},
                         json{{"node", "host-2"}, {"state", "up"}}}));
  EXPECT_EQ(recorder_.Of("device"),
            json::array({json{{"node", "host-2"}, {"state", "removed"}},
                         json{{"node", "host-2"}, {"state", "added"}}}));
}

TEST_F(FabricEventLogTest, ATrapNamesItsManager) {
  fabric::NodePort& port = lab_.PortOf(lab_.Switch(1), 0);
  port.info.master_sm_lid = wire::Lid{1};
  port.info.port_state = mad::PortState::kActive;
  lab_.SetLink(lab_.Host(2), 1, false);
  EXPECT_EQ(recorder_.Of("trap"), json::array({json{{"node", "sw1"},
                                                    {"port", 0},
                                                    {"trap", 128},
                                                    {"lid", 3},
                                                    {"sm_lid", 1},
                                                    {"repeated", false}}}));
}

TEST_F(FabricEventLogTest, ADroppedPacketTellsWhyAndWhatItWas) {
  log_.NameFaultsBy(
      [](uint32_t number) { return "fault " + std::to_string(number); });
  const auto fault = lab_.fabric.AddFault(
      lab_.Host(1), 1, fabric::Fabric::Direction::kTransmit, {.loss = 1});
  ASSERT_TRUE(fault.ok());
  const auto ask = LidGet(0, mad::MgmtClass::kSubnetLidRouted, wire::Lid{2},
                          mad::AttributeId::kNodeInfo);
  lab_.Send(ask);
  const json lost = {{"node", "host-1"},
                     {"port", 1},
                     {"cause", "loss"},
                     {"fault", "fault " + std::to_string(fault->number)},
                     {"packets", 1},
                     {"slid", 1},
                     {"dlid", 2},
                     {"class", "SM"},
                     {"attribute", "NodeInfo"}};
  EXPECT_EQ(recorder_.Of("drop"), json::array({lost}));

  lab_.fabric.RemoveFault(*fault);
  lab_.Send(
      LidGet(1, mad::MgmtClass{0x4f}, wire::Lid{60}, mad::AttributeId{0x77}));
  EXPECT_EQ(recorder_.Of("drop"),
            json::array({lost, json{{"node", "sw1"},
                                    {"port", 1},
                                    {"cause", "no-route"},
                                    {"packets", 1},
                                    {"slid", 1},
                                    {"dlid", 60},
                                    {"class", "0x4f"},
                                    {"attribute", "0x77"}}}));
}

TEST_F(FabricEventLogTest, TimesCountFromItsStart) {
  lab_.timers.RunFor(absl::Milliseconds(1500));
  log_.Tell("fault", {{"name", "x"}});
  ASSERT_THAT(recorder_.events, SizeIs(1));
  EXPECT_EQ(recorder_.events[0],
            (json{{"event", "fault"},
                  {"name", "x"},
                  {"time_ns", 1'500'000'000},
                  {"wall", "1970-01-01T00:00:01.500000000Z"}}));
}

TEST_F(FabricEventLogTest, WhoStopsListeningHearsNothingAndOthersGoOn) {
  EventRecorder other;
  log_.Add(other);
  log_.Remove(recorder_);
  // Of a subnet manager, which leaves the link at INIT for now.
  lab_.PortOf("sw1", 0).info.master_sm_lid = wire::Lid{1};
  lab_.SetLink(lab_.Host(1), 1, false);
  EXPECT_THAT(recorder_.events, IsEmpty());
  EXPECT_EQ(other.Of("link").size(), 1u);
  log_.Remove(other);
  EXPECT_FALSE(log_.Listened());
  // What happened meanwhile is not told to who comes later.
  lab_.SetLink(lab_.Host(1), 1, true);
  log_.Add(recorder_);
  lab_.fabric.links().SetLogicalState(lab_.subnet().port_id(lab_.Host(1), 1),
                                      mad::PortState::kArmed);
  EXPECT_THAT(recorder_.events, SizeIs(1));
}

}  // namespace
}  // namespace ibemu::daemon
