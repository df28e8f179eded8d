#include "fabric/forwarding/packet_tap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "fabric/forwarding/forwarder.h"
#include "fabric/packet/transport.h"
#include "tests/fabric/verbs_pair.h"

namespace ibemu::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::LidGet;
using ::testing::SizeIs;

struct Listener : PacketTap {
  void OnCrossing(PortId from, PortId to, uint8_t vl,
                  const Packet& packet) override {
    ways.emplace_back(from, to);
    lanes.push_back(vl);
    EXPECT_EQ(packet.Count(), 1u);
    if (packet.transport != nullptr) {
      packets.push_back(*packet.transport);
    }
  }
  std::vector<std::tuple<PortId, PortId>> ways;
  std::vector<int> lanes;
  std::vector<Transport> packets;
};

class PacketTapTest : public VerbsPair {
 protected:
  PortId Id(topology::NodeId node, int port) {
    return lab_.subnet().port_id(node, port);
  }
  Listener tap_;
};

TEST_F(PacketTapTest, APacketShowsOnEachLinkOfItsWay) {
  lab_.Configure();
  lab_.fabric.forwarder().AddTap(tap_);
  const auto ask = LidGet(0, mad::MgmtClass::kSubnetLidRouted, wire::Lid{2},
                          mad::AttributeId::kNodeInfo);
  EXPECT_THAT(lab_.Send(ask), SizeIs(1));
  const topology::NodeId sw = lab_.Switch(1);
  const PortId a = Id(lab_.Host(1), 1), b = Id(lab_.Host(2), 1);
  EXPECT_THAT(tap_.ways,
              ElementsAre(std::tuple(a, Id(sw, 1)), std::tuple(Id(sw, 2), b),
                          std::tuple(b, Id(sw, 2)), std::tuple(Id(sw, 1), a)));

  lab_.fabric.forwarder().RemoveTap(tap_);
  tap_.ways.clear();
  EXPECT_THAT(lab_.Send(ask), SizeIs(1));
  EXPECT_THAT(tap_.ways, IsEmpty());
}

TEST_F(PacketTapTest, ATrainShowsAsItsPackets) {
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(b_->Receive(0, 4000).ok());
  lab_.fabric.forwarder().AddTap(tap_);
  ASSERT_TRUE(a_->Send(0, 4000).ok());
  Settle();
  lab_.fabric.forwarder().RemoveTap(tap_);
  // Four packets and an acknowledgement, over two links each.
  ASSERT_THAT(tap_.packets, SizeIs(10));
  EXPECT_TRUE(tap_.packets[0].first);
  EXPECT_EQ(tap_.packets[0].size, 1024u);
  EXPECT_EQ(tap_.packets[3].size, 928u);
  EXPECT_TRUE(tap_.packets[3].last);
  EXPECT_EQ(tap_.packets[3].psn, 1u);  // it wrapped
  EXPECT_EQ(tap_.packets[9].operation, Transport::Operation::kAcknowledge);
}

}  // namespace
}  // namespace ibemu::fabric
