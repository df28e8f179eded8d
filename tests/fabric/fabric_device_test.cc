#include "fabric/fabric_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/lab.h"

namespace ibemu::fabric {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty;
using testing::Lab, testing::Chain, testing::DirectedGet, testing::LidGet;
using wire::Guid, wire::Lid;

class Events : public mad::DeviceListener {
 public:
  void OnPortEvent(int port) override { ports.push_back(port); }
  void OnRemoved() override { ++removals; }
  std::vector<int> ports;
  int removals = 0;
};

struct FabricDeviceTest : ::testing::Test {
  FabricDeviceTest() { lab.fabric.device(lab.Host(1)).SetListener(&events); }
  Lab lab{Chain(1)};
  Events events;
};

TEST_F(FabricDeviceTest, ShowsTheNodeOfTheTopology) {
  mad::Device& host = lab.fabric.device(lab.Host(1));
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
  EXPECT_EQ(&lab.fabric.device(lab.Host(1)), &host) << "one device per node";
}

TEST_F(FabricDeviceTest, ShowsASwitchAsItsPort0) {
  mad::Device& sw = lab.fabric.device(lab.Switch(1));
  EXPECT_EQ(sw.type(), mad::NodeType::kSwitch);
  EXPECT_EQ(sw.first_port(), 0);
  EXPECT_EQ(sw.last_port(), 0);
  EXPECT_EQ(sw.port(0).Info().port_state, mad::PortState::kActive);
}

TEST_F(FabricDeviceTest, TellsItsListenerLaterAndOnce) {
  lab.SetLink(lab.Host(1), 1, false);
  lab.SetLink(lab.Host(1), 1, true);
  EXPECT_THAT(events.ports, IsEmpty()) << "not from inside the call";
  lab.timers.RunPending();
  EXPECT_THAT(events.ports, ElementsAre(1));
}

TEST_F(FabricDeviceTest, LeavesAListenerAloneThatWentAway) {
  lab.SetLink(lab.Host(1), 1, false);
  lab.fabric.device(lab.Host(1)).SetListener(nullptr);
  lab.timers.RunPending();
  EXPECT_THAT(events.ports, IsEmpty());
}

// [issm_*]
TEST_F(FabricDeviceTest, SwitchesIsSmOnAndOff) {
  mad::Port& port = lab.HostPort(1);
  port.SetIsSm(true);
  EXPECT_NE(port.Info().capability_mask & mad::capability::kIsSm, 0u);
  lab.timers.RunPending();
  EXPECT_THAT(events.ports, ElementsAre(1));
  port.SetIsSm(true);
  lab.timers.RunPending();
  EXPECT_THAT(events.ports, ElementsAre(1)) << "no change, no event";
  port.SetIsSm(false);
  EXPECT_EQ(port.Info().capability_mask & mad::capability::kIsSm, 0u);
}

TEST_F(FabricDeviceTest, CutsALongDescriptionTo64Bytes) {
  mad::Device& host = lab.fabric.device(lab.Host(1));
  host.SetNodeDescription(std::string(100, 'x'));
  EXPECT_EQ(host.node_description(), std::string(64, 'x'));
}

TEST_F(FabricDeviceTest, IsSilentWhileItsNodeIsOff) {
  lab.fabric.SetNode(lab.Host(1), false);
  EXPECT_TRUE(lab.HostPort(1)
                  .Transmit(LidGet(0, mad::MgmtClass::kSubnetLidRouted, Lid{1},
                                   mad::AttributeId::kNodeInfo))
                  .ok())
      << "a port takes what it is given";
  lab.timers.RunPending();
  EXPECT_THAT(lab.inbox.arrivals, IsEmpty());
  EXPECT_EQ(lab.HostPort(1).Info().port_state, mad::PortState::kDown);
}

// The next packet finds the new listener; what is under way is not lost.
TEST_F(FabricDeviceTest, ForgetsAListenerBetweenTwoPackets) {
  lab.Transmit(1, DirectedGet(mad::AttributeId::kNodeInfo, {1}));
  lab.HostPort(1).SetListener(nullptr);
  lab.timers.RunPending();
  EXPECT_THAT(lab.inbox.arrivals, IsEmpty());
}

TEST_F(FabricDeviceTest, TellsItsHostThatItWasPulledOut) {
  ASSERT_TRUE(lab.fabric.RemoveDevice(lab.Host(1)).ok());
  EXPECT_EQ(events.removals, 1);
  const auto sent =
      lab.HostPort(1).Transmit(LidGet(0, mad::MgmtClass::kSubnetLidRouted,
                                      Lid{1}, mad::AttributeId::kNodeInfo));
  EXPECT_EQ(sent.code(), absl::StatusCode::kUnavailable);
  lab.timers.RunPending();
  EXPECT_THAT(lab.inbox.arrivals, IsEmpty());
  EXPECT_THAT(events.ports, IsEmpty()) << "its link went down with it";
}

TEST_F(FabricDeviceTest, ComesBackForANewHost) {
  ASSERT_TRUE(lab.fabric.RemoveDevice(lab.Host(1)).ok());
  Events fresh;
  lab.fabric.device(lab.Host(1)).SetListener(&fresh);
  ASSERT_TRUE(lab.fabric.AddDevice(lab.Host(1)).ok());
  lab.timers.RunPending();
  EXPECT_THAT(fresh.ports, ElementsAre(1));
  EXPECT_EQ(fresh.removals, 0);
  EXPECT_EQ(events.removals, 1);
  EXPECT_THAT(events.ports, IsEmpty());
  lab.HostPort(1).SetListener(&lab.inbox);
  lab.Transmit(1, DirectedGet(mad::AttributeId::kNodeInfo, {1}));
  lab.timers.RunPending();
  EXPECT_EQ(lab.inbox.arrivals.size(), 1u);
}

TEST_F(FabricDeviceTest, TheIsSmBitGoesWithTheAdapter) {
  lab.HostPort(1).SetIsSm(true);
  ASSERT_TRUE(lab.fabric.RemoveDevice(lab.Host(1)).ok());
  ASSERT_TRUE(lab.fabric.AddDevice(lab.Host(1)).ok());
  EXPECT_EQ(lab.HostPort(1).Info().capability_mask & mad::capability::kIsSm,
            0u);
}

TEST_F(FabricDeviceTest, NobodyAnswersForAnAdapterThatIsOut) {
  ASSERT_TRUE(lab.fabric.RemoveDevice(lab.Host(2)).ok());
  lab.Transmit(1, DirectedGet(mad::AttributeId::kNodeInfo, {1, 2}));
  lab.timers.RunPending();
  EXPECT_THAT(lab.inbox.arrivals, IsEmpty());
  ASSERT_TRUE(lab.fabric.AddDevice(lab.Host(2)).ok());
  lab.Transmit(1, DirectedGet(mad::AttributeId::kNodeInfo, {1, 2}));
  lab.timers.RunPending();
  EXPECT_EQ(lab.inbox.arrivals.size(), 1u);
}

}  // namespace
}  // namespace ibemu::fabric
