#include "daemon/events/fabric_event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/daemon/event_recorder.h"
#include "tests/fabric/small_fabric.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::IsEmpty, ::testing::SizeIs;

class FabricEventLogTest : public ::testing::Test {
 protected:
  FabricEventLogTest() {
    row_.Configure();
    log_.Add(recorder_);
  }

  fabric::RowFabric row_{1};
  FabricEventLog log_{row_.timers, row_.fabric, absl::ZeroDuration()};
  EventRecorder recorder_;
};

TEST_F(FabricEventLogTest, ALinkThatGoesDownIsOneEventWithBothEnds) {
  ASSERT_TRUE(row_.fabric.SetLink(row_.host_1, 1, false).ok());
  const json ends = {{"a", {{"node", "host-1"}, {"port", 1}}},
                     {"b", {{"node", "sw1"}, {"port", 1}}}};
  json down = ends;
  down["state"] = "down";
  EXPECT_EQ(recorder_.Of("link"), json::array({down}));
  ASSERT_TRUE(row_.fabric.SetLink(row_.host_1, 1, true).ok());
  json up = ends;
  up["state"] = "up";
  EXPECT_EQ(recorder_.Of("link"), json::array({down, up}));
}

TEST_F(FabricEventLogTest, APortTellsItsStateAndWhoManagesIt) {
  fabric::Subnet& subnet = row_.fabric.subnet();
  const fabric::PortId id = subnet.port_id(row_.host_1, 1);
  subnet.port(id).info.master_sm_lid = wire::Lid{2};
  row_.fabric.links().SetLogicalState(id, mad::PortState::kDown);
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
  row_.Host1().SetIsSm(true);
  const json there = {{"node", "host-1"}, {"port", 1}, {"is_sm", true}};
  EXPECT_EQ(recorder_.Of("sm"), json::array({there}));
  ASSERT_TRUE(row_.fabric.RemoveDevice(row_.host_1).ok());
  json gone = there;
  gone["is_sm"] = false;
  EXPECT_EQ(recorder_.Of("sm"), json::array({there, gone}));
}

TEST_F(FabricEventLogTest, NodesAndDevicesGoAndComeBack) {
  row_.fabric.SetNode(row_.host_2, false);
  row_.fabric.SetNode(row_.host_2, true);
  ASSERT_TRUE(row_.fabric.RemoveDevice(row_.host_2).ok());
  ASSERT_TRUE(row_.fabric.AddDevice(row_.host_2).ok());
  EXPECT_EQ(recorder_.Of("node"),
            json::array({json{{"node", "host-2"}, {"state", "down"}},
                         json{{"node", "host-2"}, {"state", "up"}}}));
  EXPECT_EQ(recorder_.Of("device"),
            json::array({json{{"node", "host-2"}, {"state", "removed"}},
                         json{{"node", "host-2"}, {"state", "added"}}}));
}

TEST_F(FabricEventLogTest, ATrapNamesItsManager) {
  fabric::NodePort& port = row_.PortOf(fabric::RowFabric::Switch(1), 0);
  port.info.master_sm_lid = wire::Lid{1};
  port.info.port_state = mad::PortState::kActive;
  ASSERT_TRUE(row_.fabric.SetLink(row_.host_2, 1, false).ok());
  EXPECT_EQ(recorder_.Of("trap"), json::array({json{{"node", "sw1"},
                                                    {"port", 0},
                                                    {"trap", 128},
                                                    {"lid", 11},
                                                    {"sm_lid", 1},
                                                    {"repeated", false}}}));
}

TEST_F(FabricEventLogTest, ADroppedPacketTellsWhyAndWhatItWas) {
  log_.NameFaultsBy([](fabric::PortId, uint32_t number) {
    return "fault " + std::to_string(number);
  });
  const auto fault = row_.fabric.AddFault(
      row_.host_1, 1, fabric::Fabric::Direction::kTransmit, {.loss = 1});
  ASSERT_TRUE(fault.ok());
  const auto ask = fabric::LidGet(0, mad::MgmtClass::kSubnetLidRouted,
                                  wire::Lid{2}, mad::AttributeId::kNodeInfo);
  row_.Send(ask);
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

  row_.fabric.RemoveFault(*fault);
  row_.Send(fabric::LidGet(1, mad::MgmtClass{0x4f}, wire::Lid{60},
                           mad::AttributeId{0x77}));
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
  row_.timers.RunFor(absl::Milliseconds(1500));
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
  ASSERT_TRUE(row_.fabric.SetLink(row_.host_1, 1, false).ok());
  EXPECT_THAT(recorder_.events, IsEmpty());
  EXPECT_EQ(other.Of("link").size(), 1u);
  log_.Remove(other);
  EXPECT_FALSE(log_.Listened());
  // What happened meanwhile is not told to who comes later.
  ASSERT_TRUE(row_.fabric.SetLink(row_.host_1, 1, true).ok());
  log_.Add(recorder_);
  row_.fabric.links().SetLogicalState(
      row_.fabric.subnet().port_id(row_.host_1, 1), mad::PortState::kArmed);
  EXPECT_THAT(recorder_.events, SizeIs(1));
}

}  // namespace
}  // namespace ibemu::daemon
