#include "fabric/fabric_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fabric/small_fabric.h"

namespace ibemu::fabric {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty;
using wire::Guid, wire::Lid;

class Events : public mad::DeviceListener {
 public:
  void OnPortEvent(int port) override { ports.push_back(port); }
  void OnRemoved() override { ++removals; }
  std::vector<int> ports;
  int removals = 0;
};

struct FabricDeviceTest : ::testing::Test {
  FabricDeviceTest() : row(1) {
    row.fabric.device(row.host_1).SetListener(&events);
  }
  RowFabric row;
  Events events;
};

TEST_F(FabricDeviceTest, ShowsTheNodeOfTheTopology) {
  mad::Device& host = row.fabric.device(row.host_1);
  EXPECT_EQ(host.type(), mad::NodeType::kChannelAdapter);
  EXPECT_EQ(host.node_guid(), Guid{0x1000});
  EXPECT_EQ(host.system_image_guid(), Guid{0x1000});
  EXPECT_EQ(host.node_description(), "host-1");
  EXPECT_EQ(host.first_port(), 1);
  EXPECT_EQ(host.last_port(), 1);
  EXPECT_EQ(host.port(1).GidAt(0),
            (wire::Gid{wire::kDefaultGidPrefix, 0x1001}));
  EXPECT_EQ(host.port(1).PKeyAt(0), 0xffff);
  EXPECT_EQ(host.port(1).PKeyAt(1), 0);
  EXPECT_EQ(host.port(1).PKeyAt(-1), 0);
  EXPECT_EQ(host.port(1).GidAt(1000), wire::Gid{}) << "beyond the table";
  EXPECT_EQ(&row.fabric.device(row.host_1), &host) << "one device per node";
}

TEST_F(FabricDeviceTest, ShowsASwitchAsItsPort0) {
  mad::Device& sw = row.fabric.device(RowFabric::Switch(1));
  EXPECT_EQ(sw.type(), mad::NodeType::kSwitch);
  EXPECT_EQ(sw.first_port(), 0);
  EXPECT_EQ(sw.last_port(), 0);
  EXPECT_EQ(sw.port(0).Info().port_state, mad::PortState::kActive);
}

TEST_F(FabricDeviceTest, TellsItsListenerLaterAndOnce) {
  ASSERT_TRUE(row.fabric.SetLink(row.host_1, 1, false).ok());
  ASSERT_TRUE(row.fabric.SetLink(row.host_1, 1, true).ok());
  EXPECT_THAT(events.ports, IsEmpty()) << "not from inside the call";
  row.timers.RunPending();
  EXPECT_THAT(events.ports, ElementsAre(1));
}

TEST_F(FabricDeviceTest, LeavesAListenerAloneThatWentAway) {
  ASSERT_TRUE(row.fabric.SetLink(row.host_1, 1, false).ok());
  row.fabric.device(row.host_1).SetListener(nullptr);
  row.timers.RunPending();
  EXPECT_THAT(events.ports, IsEmpty());
}

// [issm_*]
TEST_F(FabricDeviceTest, SwitchesIsSmOnAndOff) {
  mad::Port& port = row.Host1();
  port.SetIsSm(true);
  EXPECT_NE(port.Info().capability_mask & mad::capability::kIsSm, 0u);
  row.timers.RunPending();
  EXPECT_THAT(events.ports, ElementsAre(1));
  port.SetIsSm(true);
  row.timers.RunPending();
  EXPECT_THAT(events.ports, ElementsAre(1)) << "no change, no event";
  port.SetIsSm(false);
  EXPECT_EQ(port.Info().capability_mask & mad::capability::kIsSm, 0u);
}

TEST_F(FabricDeviceTest, CutsALongDescriptionTo64Bytes) {
  mad::Device& host = row.fabric.device(row.host_1);
  host.SetNodeDescription(std::string(100, 'x'));
  EXPECT_EQ(host.node_description(), std::string(64, 'x'));
}

TEST_F(FabricDeviceTest, IsSilentWhileItsNodeIsOff) {
  row.fabric.SetNode(row.host_1, false);
  EXPECT_TRUE(row.Host1()
                  .Transmit(LidGet(0, mad::MgmtClass::kSubnetLidRouted, Lid{1},
                                   mad::AttributeId::kNodeInfo))
                  .ok())
      << "a port takes what it is given";
  row.timers.RunPending();
  EXPECT_THAT(row.inbox.arrivals, IsEmpty());
  EXPECT_EQ(row.Host1().Info().port_state, mad::PortState::kDown);
}

// The next packet finds the new listener; what is under way is not lost.
TEST_F(FabricDeviceTest, ForgetsAListenerBetweenTwoPackets) {
  ASSERT_TRUE(
      row.Host1().Transmit(DirectedGet(mad::AttributeId::kNodeInfo, {1})).ok());
  row.Host1().SetListener(nullptr);
  row.timers.RunPending();
  EXPECT_THAT(row.inbox.arrivals, IsEmpty());
}

TEST_F(FabricDeviceTest, TellsItsHostThatItWasPulledOut) {
  ASSERT_TRUE(row.fabric.RemoveDevice(row.host_1).ok());
  EXPECT_EQ(events.removals, 1);
  const auto sent =
      row.Host1().Transmit(LidGet(0, mad::MgmtClass::kSubnetLidRouted, Lid{1},
                                  mad::AttributeId::kNodeInfo));
  EXPECT_EQ(sent.code(), absl::StatusCode::kUnavailable);
  row.timers.RunPending();
  EXPECT_THAT(row.inbox.arrivals, IsEmpty());
  EXPECT_THAT(events.ports, IsEmpty()) << "its link went down with it";
}

TEST_F(FabricDeviceTest, ComesBackForANewHost) {
  ASSERT_TRUE(row.fabric.RemoveDevice(row.host_1).ok());
  Events fresh;
  row.fabric.device(row.host_1).SetListener(&fresh);
  ASSERT_TRUE(row.fabric.AddDevice(row.host_1).ok());
  row.timers.RunPending();
  EXPECT_THAT(fresh.ports, ElementsAre(1));
  EXPECT_EQ(fresh.removals, 0);
  EXPECT_EQ(events.removals, 1);
  EXPECT_THAT(events.ports, IsEmpty());
  row.Host1().SetListener(&row.inbox);
  ASSERT_TRUE(
      row.Host1().Transmit(DirectedGet(mad::AttributeId::kNodeInfo, {1})).ok());
  row.timers.RunPending();
  EXPECT_EQ(row.inbox.arrivals.size(), 1u);
}

TEST_F(FabricDeviceTest, TheIsSmBitGoesWithTheAdapter) {
  row.Host1().SetIsSm(true);
  ASSERT_TRUE(row.fabric.RemoveDevice(row.host_1).ok());
  ASSERT_TRUE(row.fabric.AddDevice(row.host_1).ok());
  EXPECT_EQ(row.Host1().Info().capability_mask & mad::capability::kIsSm, 0u);
}

TEST_F(FabricDeviceTest, NobodyAnswersForAnAdapterThatIsOut) {
  ASSERT_TRUE(row.fabric.RemoveDevice(row.host_2).ok());
  ASSERT_TRUE(row.Host1()
                  .Transmit(DirectedGet(mad::AttributeId::kNodeInfo, {1, 2}))
                  .ok());
  row.timers.RunPending();
  EXPECT_THAT(row.inbox.arrivals, IsEmpty());
  ASSERT_TRUE(row.fabric.AddDevice(row.host_2).ok());
  ASSERT_TRUE(row.Host1()
                  .Transmit(DirectedGet(mad::AttributeId::kNodeInfo, {1, 2}))
                  .ok());
  row.timers.RunPending();
  EXPECT_EQ(row.inbox.arrivals.size(), 1u);
}

}  // namespace
}  // namespace ibemu::fabric
