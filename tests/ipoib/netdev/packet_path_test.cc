// Two hosts with network devices on a managed subnet, and one without.
#include "ipoib/netdev/packet_path.h"

#include <gmock/gmock.h>

#include <memory>
#include <vector>

#include "fabric/soft_hca/hca.h"
#include "tests/ipoib/engine_lab.h"
#include "tests/ipoib/netdev/ip_packets.h"

namespace ibemu::ipoib {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::SizeIs;
using Packet = std::vector<std::byte>;

// A host with a kernel's device, which keeps what it receives.
struct PathHost final : private PacketPath::Device {
  PathHost(testing::Lab& lab, int number)
      : host(lab, number), path(lab.timers, host.engine, *this) {}

  EngineHost host;
  std::vector<Packet> received;
  int link_changes = 0;
  int rooms = 0;
  PacketPath path;

 private:
  void Receive(std::span<const std::byte> packet) override {
    received.emplace_back(packet.begin(), packet.end());
  }
  void OnLinkChange() override { ++link_changes; }
  void OnRoom() override { ++rooms; }
};

class PacketPathTest : public EngineTest {
 protected:
  PacketPathTest() { Settle(); }

  static Packet To(const wire::IpAddress& address, size_t bytes = 16) {
    return UdpPacket(
        address.is_ipv4() ? EngineHost::Ipv4(1) : EngineHost::Ipv6(1), address,
        bytes);
  }

  PathHost one_{lab_, 1};
  std::unique_ptr<PathHost> two_ = std::make_unique<PathHost>(lab_, 2);
  EngineHost three_{lab_, 3};
};

TEST_F(PacketPathTest, PacketsReachTheOtherHostAsTheyAre) {
  for (const auto& to : {EngineHost::Ipv4(2), EngineHost::Ipv6(2)}) {
    two_->received.clear();
    one_.path.Send(To(to));
    one_.path.Send(To(to, 2000));
    Settle();
    EXPECT_THAT(two_->received, ElementsAre(To(to), To(to, 2000)));
  }
  EXPECT_EQ(one_.path.counters().sent, 4u);
  EXPECT_EQ(two_->path.counters().received, 4u);
  EXPECT_EQ(two_->path.counters().received_bytes,
            one_.path.counters().sent_bytes);
}

TEST_F(PacketPathTest, TheLinkLocalAddressIsReachedToo) {
  const wire::IpAddress link_local =
      two_->host.engine.own_addresses().back().address;
  ASSERT_TRUE(link_local.IsLinkLocal());
  one_.path.Send(To(link_local));
  Settle();
  EXPECT_THAT(two_->received, SizeIs(1));
}

TEST_F(PacketPathTest, AHostWithoutADeviceAnswersPings) {
  auto ping = PacketIn(kEchoRequest);  // of 198.18.0.1 to 198.18.0.2
  wire::Put<&Ipv4Header::destination>(ping, EngineHost::Ipv4(3).ipv4());
  wire::Put<&Ipv4Header::checksum>(ping, uint16_t{0});
  wire::Put<&Ipv4Header::checksum>(
      ping, Checksum(std::span(ping).first(wire::kBytes<Ipv4Header>)));
  one_.path.Send(ping);
  Settle();
  ASSERT_THAT(one_.received, SizeIs(1));
  EXPECT_EQ(ParseIpPacket(one_.received[0])->source, EngineHost::Ipv4(3));
}

TEST_F(PacketPathTest, AHostWithADeviceLeavesPingsToItsKernel) {
  one_.path.Send(PacketIn(kEchoRequest));
  Settle();
  EXPECT_THAT(two_->received, ElementsAre(PacketIn(kEchoRequest)));
  EXPECT_THAT(one_.received, IsEmpty());
}

TEST_F(PacketPathTest, TheKernelIsToldThatNobodyAnswers) {
  one_.path.Send(To(EngineHost::Ipv4(77)));
  Settle(absl::Milliseconds(2900));
  EXPECT_THAT(one_.received, IsEmpty());
  Settle(absl::Milliseconds(200));
  ASSERT_THAT(one_.received, SizeIs(1));
  EXPECT_EQ(ParseIpPacket(one_.received[0])->destination, EngineHost::Ipv4(1));
}

TEST_F(PacketPathTest, TheKernelIsToldOfAPacketThatIsTooBig) {
  const size_t mtu = one_.host.engine.mtu();
  one_.path.Send(To(EngineHost::Ipv4(2), mtu - 20));
  one_.path.Send(To(EngineHost::Ipv4(2), mtu - 19));
  Settle();
  EXPECT_THAT(two_->received, SizeIs(1));
  ASSERT_THAT(one_.received, SizeIs(1));
  EXPECT_EQ(one_.path.counters().dropped, 1u);
}

TEST_F(PacketPathTest, BroadcastsReachAllOthersAndNotOneself) {
  for (const uint32_t everybody : {0xffffffffu, 0xc612ffffu}) {
    one_.path.Send(To(wire::IpAddress::Ipv4(everybody)));
  }
  Settle();
  EXPECT_THAT(two_->received, SizeIs(2));
  EXPECT_THAT(one_.received, IsEmpty());
}

TEST_F(PacketPathTest, AllSystemsAndAllNodesAreListenedTo) {
  one_.path.Send(To(wire::IpAddress::Ipv4(0xe0000001)));
  one_.path.Send(To(wire::IpAddress::Ipv6(
      {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})));
  Settle();
  EXPECT_THAT(two_->received, SizeIs(2));
}

TEST_F(PacketPathTest, AGroupReachesWhoeverListensToIt) {
  one_.path.Send(To(kGroup));
  Settle();
  EXPECT_THAT(two_->received, IsEmpty());
  two_->path.Send(FromHex(kIgmpJoin));
  two_->path.Send(FromHex(kMldJoin));
  Settle();
  EXPECT_THAT(one_.received, IsEmpty()) << "reports are not sent";
  one_.path.Send(To(kGroup));
  one_.path.Send(To(kGroup6));
  Settle();
  EXPECT_THAT(two_->received, SizeIs(2));
  two_->path.Send(FromHex(kIgmpLeave));
  Settle();
  one_.path.Send(To(kGroup));
  Settle();
  EXPECT_THAT(two_->received, SizeIs(2));
}

TEST_F(PacketPathTest, AGroupIsLeftWhenNothingWasSentForAMinute) {
  one_.path.Send(To(kGroup));
  Settle(GroupTable::kIdle - absl::Seconds(1));
  EXPECT_FALSE(lab_.timers.idle());
  Settle(GroupTable::kIdle + absl::Seconds(2));
  // Nothing of an interface that is not asked has a timer.
  one_.path.Send(To(kGroup));
  Settle();
  EXPECT_EQ(one_.path.counters().sent, 2u);
}

TEST_F(PacketPathTest, ALinkThatIsCutLosesPacketsUntilItIsBack) {
  one_.path.Send(To(EngineHost::Ipv4(2)));
  two_->path.Send(FromHex(kIgmpJoin));
  Settle();
  ASSERT_THAT(two_->received, SizeIs(1));
  const int before = two_->link_changes;
  lab_.SetLink(lab_.Host(2), 1, false);
  Settle();
  EXPECT_GT(two_->link_changes, before);
  one_.path.Send(To(EngineHost::Ipv4(2)));
  two_->path.Send(UdpPacket(EngineHost::Ipv4(2), EngineHost::Ipv4(1)));
  Settle();
  EXPECT_THAT(two_->received, SizeIs(1));
  EXPECT_EQ(two_->path.counters().dropped, 1u);
  lab_.SetLink(lab_.Host(2), 1, true);
  Settle(absl::Seconds(30));
  one_.path.Send(To(EngineHost::Ipv4(2)));
  one_.path.Send(To(kGroup));
  Settle();
  EXPECT_THAT(two_->received, SizeIs(3)) << "the group was joined again";
}

TEST_F(PacketPathTest, ASubnetManagerThatStartsAnewFindsAllGroupsAgain) {
  two_->path.Send(FromHex(kIgmpJoin));
  one_.path.Send(To(kGroup));
  Settle();
  two_->received.clear();
  for (const int number : {1, 2}) {
    auto& hca = static_cast<fabric::Hca&>(lab_.Provider(number));
    const auto& node = lab_.subnet().node(lab_.Host(number));
    hca.OnClientReregister(lab_.subnet().port_id(node, 1));
  }
  lab_.timers.RunFor(absl::Milliseconds(1));
  Settle();
  one_.path.Send(To(kGroup));
  one_.path.Send(To(EngineHost::Ipv4(2)));
  Settle();
  EXPECT_THAT(two_->received, SizeIs(2));
}

TEST_F(PacketPathTest, AnInterfaceThatIsMadeAnewIsFoundAtOnce) {
  one_.path.Send(To(EngineHost::Ipv4(2)));
  one_.path.Send(To(EngineHost::Ipv6(2)));
  Settle();
  two_.reset();
  two_ = std::make_unique<PathHost>(lab_, 2);
  Settle();
  one_.path.Send(To(EngineHost::Ipv4(2)));
  one_.path.Send(To(EngineHost::Ipv6(2)));
  Settle(absl::Milliseconds(1));
  EXPECT_THAT(two_->received, SizeIs(2)) << "it has told its address";
}

TEST_F(PacketPathTest, WhatComesFasterThanItCanBeSentIsToWait) {
  one_.path.Send(To(EngineHost::Ipv4(2)));
  Settle();
  size_t sent = 1;
  for (; one_.path.room() != 0; ++sent) one_.path.Send(To(EngineHost::Ipv4(2)));
  EXPECT_LT(sent, 1000u);
  EXPECT_EQ(one_.rooms, 0);
  Settle();
  EXPECT_EQ(one_.rooms, 1);
  EXPECT_NE(one_.path.room(), 0u);
  EXPECT_THAT(two_->received, SizeIs(sent));
}

TEST_F(PacketPathTest, GroupsToSendToHaveAnEnd) {
  for (uint32_t i = 0; i < 3 * GroupTable::kMaxSentTo; ++i) {
    one_.path.Send(To(wire::IpAddress::Ipv4(0xef000000 + i)));
    Settle(absl::Milliseconds(10));
  }
  Settle(absl::Minutes(3));
  one_.path.Send(To(EngineHost::Ipv4(2)));
  Settle();
  EXPECT_THAT(two_->received, SizeIs(1));
}

TEST_F(PacketPathTest, NobodyElseSpeaksInTheNameOfAnOwnAddress) {
  const HardwareAddress one = one_.host.engine.hardware_address();
  for (const auto& source : {EngineHost::Ipv4(1), EngineHost::Ipv4(2)}) {
    const Packet packet = UdpPacket(source, EngineHost::Ipv4(1));
    two_->host.engine.SendTo(one, Encapsulate(EtherType::kIpv4, packet));
    two_->host.engine.SendTo(
        one, Encapsulate(EtherType::kIpv4, std::span(packet).first(20)));
  }
  Settle();
  EXPECT_THAT(one_.received,
              ElementsAre(UdpPacket(EngineHost::Ipv4(2), EngineHost::Ipv4(1))));
}

TEST_F(PacketPathTest, WhatIsNoPacketIsDropped) {
  one_.path.Send({});
  one_.path.Send(FromHex("00000000"));
  auto nowhere = To(EngineHost::Ipv4(2));
  wire::Put<&Ipv4Header::destination>(nowhere, 0u);
  one_.path.Send(nowhere);
  EXPECT_EQ(one_.path.counters().dropped, 3u);
  EXPECT_EQ(one_.path.counters().sent, 0u);
}

TEST_F(PacketPathTest, ARemovedDeviceDropsPackets) {
  ASSERT_TRUE(lab_.fabric.RemoveDevice(lab_.Host(1)).ok());
  Settle();
  one_.path.Send(To(EngineHost::Ipv4(2)));
  EXPECT_EQ(one_.path.counters().dropped, 1u);
}

}  // namespace
}  // namespace ibemu::ipoib
