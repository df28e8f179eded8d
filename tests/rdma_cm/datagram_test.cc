// Datagrams: service ID resolution, Q_Keys, multicast.
#include "tests/rdma_cm/fixture.h"

namespace ibemu::rdma_cm {
namespace {

using DatagramTest = RdmaCmTest;

constexpr uint32_t kUdpQKey = 0x01234567;

const DatagramParameters& DatagramsOf(const QueuedEvent& event) {
  return std::get<DatagramParameters>(event.event.parameters);
}

TEST_F(DatagramTest, AnAcceptedPeerIsToldWithItsAddress) {
  Listen(0, Any(), PortSpace::kUdp);
  const uint32_t active = Route(ServerAddress(), PortSpace::kUdp);
  ASSERT_EQ(Connect(active, 1), Refusal::kNone);
  const QueuedEvent request = server_.FetchOne();
  EXPECT_EQ(request.event.type, EventType::kConnectRequest);
  EXPECT_EQ(DatagramsOf(request).private_data.size(), 180u);
  const ConnectionParameters answer = Parameters(2);
  EXPECT_EQ(server_.channel().Accept(server_.user_id(request.told_id), 500,
                                     answer, {}),
            Refusal::kNone);
  lab_.Settle();
  const QueuedEvent event = client_.FetchOne();
  EXPECT_EQ(event.event.type, EventType::kEstablished);
  EXPECT_EQ(DatagramsOf(event).qp_num, answer.qp_num);
  EXPECT_EQ(DatagramsOf(event).qkey, kUdpQKey);
  EXPECT_EQ(DatagramsOf(event).address.dlid, 1);
  EXPECT_EQ(DatagramsOf(event).private_data.size(), 136u);
  EXPECT_FALSE(server_.channel().has_event());
  EXPECT_EQ(client_.id(active).Disconnect(), Refusal::kNone);
}

TEST_F(DatagramTest, NobodyListensIsStatus1AndARejectionStatus2) {
  ASSERT_EQ(Connect(Route(ServerAddress(), PortSpace::kUdp)), Refusal::kNone);
  QueuedEvent event = client_.FetchOne();
  EXPECT_EQ(event.event.type, EventType::kUnreachable);
  EXPECT_EQ(event.event.status, 1);

  Listen(0, Any(), PortSpace::kUdp);
  ASSERT_EQ(Connect(Route(ServerAddress(), PortSpace::kUdp)), Refusal::kNone);
  const uint32_t passive = server_.FetchOne().told_id;
  EXPECT_EQ(server_.id(passive).Reject(cm::RejectReason::kConsumerDefined, {}),
            Refusal::kNone);
  lab_.Settle();
  event = client_.FetchOne();
  EXPECT_EQ(event.event.type, EventType::kUnreachable);
  EXPECT_EQ(event.event.status, 2);
}

TEST_F(DatagramTest, TheQKeyOfAnInterfaceIsThatOfItsBroadcastGroup) {
  const uint32_t id = server_.Create(PortSpace::kIpoib);
  server_.id(id).Bind(ServerAddress(), false);
  const auto attributes = server_.id(id).QpAttributesFor(verbs::QpState::kInit);
  ASSERT_TRUE(attributes.ok());
  EXPECT_EQ(attributes->qp_attr_mask, 0x71u);
  EXPECT_EQ(attributes->qkey, testing::LabInterface::kQKey);
  lab_.host(1)->lab_interface().is_up = false;
  const uint32_t other = server_.Create(PortSpace::kIpoib);
  server_.id(other).Bind(ServerAddress(kPort + 1), false);
  EXPECT_EQ(server_.id(other).QpAttributesFor(verbs::QpState::kInit).refusal(),
            Refusal::kNoSuchAddress);
}

// ----- Multicast

SocketAddress Group() {
  return SocketAddress::Ip(wire::IpAddress::Ipv4(0xe0010101), 0);
}

TEST_F(DatagramTest, AJoinAsksAsLinuxDoesAndIsToldUnderItsOwnName) {
  const uint32_t id = server_.Create(PortSpace::kUdp);
  server_.id(id).Bind(ServerAddress(), false);
  const auto join = server_.channel().Join(*server_.channel().Find(id), 900,
                                           Group(), mad::kFullMember);
  ASSERT_TRUE(join.ok());
  EXPECT_EQ(*join, 0u);
  lab_.Settle();
  EXPECT_EQ(lab_.asked.component_mask, 0x130c7u);
  EXPECT_EQ(lab_.asked_group.q_key, kUdpQKey);
  EXPECT_EQ(lab_.asked_group.mgid, (wire::Gid{0xff12'4001'ffff'0000, 0x10101}));
  const QueuedEvent event = server_.FetchOne();
  EXPECT_EQ(event.event.type, EventType::kMulticastJoin);
  EXPECT_EQ(event.told_uid, 900u);
  EXPECT_EQ(event.told_id, 0u);
  const DatagramParameters& group = DatagramsOf(event);
  EXPECT_EQ(group.qp_num, 0xffffffu);
  EXPECT_EQ(group.qkey, kUdpQKey);
  EXPECT_EQ(group.address.dlid, 0xc001);
  EXPECT_EQ(group.address.is_global, 1);
  EXPECT_EQ(group.address.grh.dgid[15], 1);
  EXPECT_EQ(*server_.channel().Leave(*join), 1u);
  EXPECT_EQ(server_.channel().Leave(*join).refusal(), Refusal::kNoSuchId);
  EXPECT_EQ(*server_.channel().Destroy(id), 1u);
}

TEST_F(DatagramTest, AJoinThatTheSaRefusesIsAnError) {
  const uint32_t id = server_.Create(PortSpace::kIpoib);
  server_.id(id).Bind(ServerAddress(), false);
  lab_.sa_status = mad::MadStatus::kSaRequestInvalid;
  ASSERT_TRUE(
      server_.channel()
          .Join(*server_.channel().Find(id), 1, Group(), mad::kFullMember)
          .ok());
  lab_.Settle();
  EXPECT_EQ(lab_.asked.component_mask, 0x173f7u);
  const QueuedEvent event = server_.FetchOne();
  EXPECT_EQ(event.event.type, EventType::kMulticastError);
  EXPECT_EQ(event.event.status, -22);
}

TEST_F(DatagramTest, JoiningNeedsDatagramsAnAddressAndABroadcastGroup) {
  const auto join = [this](uint32_t id) {
    return server_.channel()
        .Join(*server_.channel().Find(id), 1, Group(), mad::kFullMember)
        .refusal();
  };
  const uint32_t reliable = server_.Create();
  server_.id(reliable).Bind(ServerAddress(), false);
  EXPECT_EQ(join(reliable), Refusal::kInvalid);
  const uint32_t id = server_.Create(PortSpace::kUdp);
  server_.id(id).Bind(ServerAddress(), false);
  lab_.host(1)->lab_interface().is_up = false;
  EXPECT_EQ(join(id), Refusal::kNoSuchAddress);
  lab_.host(1)->lab_interface().is_up = true;
  for (size_t i = 0; i < Channel::kMaxJoins; ++i) {
    EXPECT_EQ(join(id), Refusal::kNone);
  }
  EXPECT_EQ(join(id), Refusal::kNoMemory);
}

TEST_F(DatagramTest, AnOpenHasNoMoreThan4096Joins) {
  const auto join = [](Channel& channel, uint32_t id) {
    return channel.Join(*channel.Find(id), 1, Group(), mad::kFullMember)
        .refusal();
  };
  Channel& channel = server_.channel();
  uint32_t id = 0;
  for (size_t i = 0; i < 4096; ++i) {
    if (i % Channel::kMaxJoins == 0) {
      id = server_.Create(PortSpace::kUdp);
      server_.id(id).Bind(ServerAddress(0), false);
    }
    ASSERT_EQ(join(channel, id), Refusal::kNone);
  }
  const uint32_t more = server_.Create(PortSpace::kUdp);
  server_.id(more).Bind(ServerAddress(0), false);
  EXPECT_EQ(join(channel, more), Refusal::kNoMemory);
  EXPECT_TRUE(channel.Leave(4095).ok());
  EXPECT_EQ(join(channel, more), Refusal::kNone);
  EXPECT_EQ(join(channel, more), Refusal::kNoMemory);
  const auto other = server_.Open();
  EXPECT_TRUE(other->TakeOver(more).ok());
  EXPECT_EQ(join(*other, more), Refusal::kNone);
}

TEST_F(DatagramTest, AMulticastAddressResolvesToItsMgidAtOnce) {
  const uint32_t id = client_.Create(PortSpace::kUdp);
  ASSERT_EQ(client_.id(id).ResolveAddress({}, Group(), kTimeout, false),
            Refusal::kNone);
  lab_.Settle();
  EXPECT_THAT(client_.FetchTypes(), ElementsAre(EventType::kAddressResolved));
  EXPECT_EQ(client_.id(id).remote_gid(),
            (wire::Gid{0xff12'401b'ffff'0000, 0x10101}));
  EXPECT_EQ(client_.id(id).source().ip, lab_.host(2)->address());
}

TEST_F(DatagramTest, JoinsEndWithTheirId) {
  const uint32_t id = server_.Create(PortSpace::kUdp);
  server_.id(id).Bind(ServerAddress(), false);
  const uint32_t join = *server_.channel().Join(*server_.channel().Find(id), 1,
                                                Group(), mad::kFullMember);
  EXPECT_TRUE(server_.channel().Destroy(id).ok());
  lab_.Settle();
  EXPECT_FALSE(server_.channel().has_event());
  EXPECT_EQ(server_.channel().Leave(join).refusal(), Refusal::kNoSuchId);
}

TEST(GroupGidTest, WildcardsLeaveTheChoiceAndChosenOnesAreTakenAsTheyAre) {
  const wire::Gid broadcast = ipoib::BroadcastGid(0xffff);
  EXPECT_EQ(GroupGidOf(SocketAddress::Wildcard(Family::kIpv6), broadcast,
                       PortSpace::kUdp),
            wire::Gid{});
  const auto chosen = SocketAddress::Ip(
      wire::IpAddress::Ipv6({0xff, 0x12, 0xa0, 0x1b, 0xfe, 0x80}), 0);
  EXPECT_EQ(GroupGidOf(chosen, broadcast, PortSpace::kUdp),
            (wire::Gid{0xff12'a01b'fe80'0000, 0}));
  const wire::Gid gid{0xff12'1234'0000'0000, 9};
  EXPECT_EQ(GroupGidOf(SocketAddress::Ib(gid, 0), broadcast, PortSpace::kUdp),
            gid);
}

}  // namespace
}  // namespace ibemu::rdma_cm
