// Connections of two programs, from the request to the end.
#include "tests/rdma_cm/fixture.h"

namespace ibemu::rdma_cm {
namespace {

const ConnectionParameters& ConnectionOf(const QueuedEvent& event) {
  return std::get<ConnectionParameters>(event.event.parameters);
}

TEST_F(RdmaCmTest, ARequestComesUnderTheListenersNameWithTheNewId) {
  const uint32_t listener = Listen();
  const uint32_t active = Route(ServerAddress());
  ASSERT_EQ(Connect(active, 2), Refusal::kNone);

  const QueuedEvent event = server_.FetchOne();
  EXPECT_EQ(event.event.type, EventType::kConnectRequest);
  EXPECT_EQ(event.told_uid, listener + 100);
  EXPECT_NE(event.told_id, listener);
  const ConnectionParameters& request = ConnectionOf(event);
  EXPECT_EQ(request.qp_num, qp_num_);
  EXPECT_EQ(request.private_data.size(), 56u);
  EXPECT_EQ(request.private_data[1], std::byte{0x5a});
  EXPECT_EQ(request.private_data[2], std::byte{0});
  EXPECT_EQ(request.responder_resources, 5);
  EXPECT_EQ(request.initiator_depth, 3);
  EXPECT_EQ(request.retry_count, 7);
  EXPECT_EQ(request.rnr_retry_count, 6);
}

TEST_F(RdmaCmTest, TheIdOfARequestKnowsBothAddressesAndThePath) {
  Listen();
  const uint32_t active = Route(ServerAddress());
  ASSERT_EQ(Connect(active), Refusal::kNone);
  const Id& passive = server_.id(server_.FetchOne().told_id);
  EXPECT_EQ(passive.source(), ServerAddress());
  EXPECT_EQ(passive.destination(), client_.id(active).source());
  EXPECT_EQ(passive.destination().ip, lab_.host(2)->address());
  ASSERT_TRUE(passive.path().has_value());
  EXPECT_EQ(passive.path()->dgid, lab_.host(2)->gid());
}

TEST_F(RdmaCmTest, BothSidesAreEstablishedInLinuxsOrderOfEvents) {
  const auto [active, passive] = Establish();
  EXPECT_EQ(client_.user_id(active).events_reported, 3u);
  EXPECT_EQ(server_.user_id(passive).events_reported, 1u);
}

TEST_F(RdmaCmTest, AnEventOfAnAcceptedIdHasTheNameThatAcceptGave) {
  const auto [active, passive] = Establish();
  EXPECT_EQ(client_.id(active).Disconnect(), Refusal::kNone);
  lab_.Settle();
  const QueuedEvent event = server_.FetchOne();
  EXPECT_EQ(event.event.type, EventType::kDisconnected);
  EXPECT_EQ(event.told_uid, 500u);
  EXPECT_EQ(event.told_id, passive);
}

TEST_F(RdmaCmTest, WhoDisconnectsIsToldWhenThePeerDidToo) {
  const auto [active, passive] = Establish();
  client_.id(active).Disconnect();
  lab_.Settle();
  EXPECT_THAT(client_.FetchTypes(), IsEmpty());
  EXPECT_EQ(server_.id(passive).Disconnect(), Refusal::kNone);
  lab_.Settle();
  EXPECT_THAT(client_.FetchTypes(), ElementsAre(EventType::kDisconnected));
  lab_.timers().RunFor(absl::Seconds(5));
  EXPECT_THAT(client_.FetchTypes(), ElementsAre(EventType::kTimewaitExit));
}

TEST_F(RdmaCmTest, NobodyListensRejects8AtOnce) {
  const uint32_t active = Route(ServerAddress());
  ASSERT_EQ(Connect(active), Refusal::kNone);
  const QueuedEvent event = client_.FetchOne();
  EXPECT_EQ(event.event.type, EventType::kRejected);
  EXPECT_EQ(event.event.status, 8);
  EXPECT_EQ(ConnectionOf(event).private_data.size(), 148u);
}

TEST_F(RdmaCmTest, AListenerOnAnotherAddressRejects28) {
  SocketAddress other = ServerAddress();
  other.ip = wire::IpAddress::Ipv6({});
  Listen(0, SocketAddress::Ip(lab_.host(1)->ipv6_address(), kPort));
  ASSERT_EQ(Connect(Route(ServerAddress())), Refusal::kNone);
  EXPECT_EQ(client_.FetchOne().event.status, 28);
}

TEST_F(RdmaCmTest, AListenerForUcRejectsRc) {
  const uint32_t listener = server_.Create(PortSpace::kIb, 3);
  SocketAddress any = SocketAddress::Wildcard(Family::kIb);
  any.sid = ServiceId(PortSpace::kTcp, kPort);
  any.sid_mask = ~uint64_t{0};
  ASSERT_EQ(server_.id(listener).Bind(any, false), Refusal::kNone);
  server_.channel().Listen(server_.user_id(listener), 1);
  ASSERT_EQ(Connect(Route(ServerAddress())), Refusal::kNone);
  EXPECT_EQ(client_.FetchOne().event.status, 28);
}

TEST_F(RdmaCmTest, ThePassiveSideRefusesLoopbackAddresses) {
  // Host 1 to itself.
  const uint32_t listener = Listen();
  const uint32_t id = server_.Create();
  const auto loopback =
      SocketAddress::Ip(wire::IpAddress::Ipv4(0x7f000001), kPort);
  ASSERT_EQ(server_.id(id).ResolveAddress({}, loopback, kTimeout, false),
            Refusal::kNone);
  lab_.Settle();
  ASSERT_EQ(server_.id(id).ResolveRoute(kTimeout), Refusal::kNone);
  lab_.Settle();
  server_.Fetch();
  ASSERT_EQ(server_.id(id).Connect(Parameters(), {}), Refusal::kNone);
  lab_.Settle();
  EXPECT_EQ(server_.FetchOne().event.status, 28);
  EXPECT_EQ(server_.user_id(listener).events_reported, 0u);
}

TEST_F(RdmaCmTest, AHostConnectsToItsOwnAddress) {
  Listen();
  const uint32_t id = server_.Create();
  ASSERT_EQ(server_.id(id).ResolveAddress({}, ServerAddress(), kTimeout, false),
            Refusal::kNone);
  lab_.Settle();
  EXPECT_EQ(server_.id(id).source().ip, lab_.host(1)->address());
  EXPECT_EQ(server_.id(id).remote_gid(), lab_.host(1)->gid());
  ASSERT_EQ(server_.id(id).ResolveRoute(kTimeout), Refusal::kNone);
  lab_.Settle();
  server_.Fetch();
  ASSERT_EQ(server_.id(id).Connect(Parameters(), {}), Refusal::kNone);
  lab_.Settle();
  EXPECT_THAT(server_.FetchTypes(), ElementsAre(EventType::kConnectRequest));
}

TEST_F(RdmaCmTest, AnIdThatWasRejectedCantConnectAgain) {
  const uint32_t active = Route(ServerAddress());
  Connect(active);
  client_.Fetch();
  EXPECT_EQ(Connect(active), Refusal::kInvalid);
}

TEST_F(RdmaCmTest, FiftySevenPrivateBytesAreTooMany) {
  Listen();
  const uint32_t active = Route(ServerAddress());
  EXPECT_EQ(Connect(active, 57), Refusal::kInvalid);
  EXPECT_EQ(client_.id(active).state(), Id::State::kRouteResolved);
  EXPECT_EQ(Connect(active, 56), Refusal::kNone);
}

TEST_F(RdmaCmTest, ARejectionHasTheProgramsData) {
  Listen();
  const uint32_t active = Route(ServerAddress());
  Connect(active);
  const uint32_t passive = server_.FetchOne().told_id;
  const std::vector data(3, std::byte{0x77});
  EXPECT_EQ(
      server_.id(passive).Reject(cm::RejectReason::kConsumerDefined, data),
      Refusal::kNone);
  lab_.Settle();
  const QueuedEvent event = client_.FetchOne();
  EXPECT_EQ(event.event.type, EventType::kRejected);
  EXPECT_EQ(event.event.status, 28);
  EXPECT_EQ(ConnectionOf(event).private_data[2], std::byte{0x77});
}

TEST_F(RdmaCmTest, AnAnswerThatTheCmRefusesRejects) {
  Listen();
  const uint32_t active = Route(ServerAddress());
  Connect(active);
  const uint32_t passive = server_.FetchOne().told_id;
  EXPECT_EQ(server_.channel().Accept(server_.user_id(passive), 500,
                                     Parameters(197), {}),
            Refusal::kInvalid);
  lab_.Settle();
  EXPECT_EQ(client_.FetchOne().event.status, 28);
  EXPECT_EQ(server_.user_id(passive).uid, 0u);
}

TEST_F(RdmaCmTest, WhatHappensBeforeAcceptIsNotToldAndAcceptFails) {
  Listen();
  const uint32_t active = Route(ServerAddress());
  Connect(active);
  const uint32_t passive = server_.FetchOne().told_id;
  EXPECT_TRUE(client_.channel().Destroy(active).ok());
  lab_.Settle();
  EXPECT_THAT(server_.FetchTypes(), IsEmpty());
  EXPECT_EQ(
      server_.channel().Accept(server_.user_id(passive), 500, Parameters(), {}),
      Refusal::kInvalid);
}

TEST_F(RdmaCmTest, NobodyAnswersForAMinuteAndAHalf) {
  const uint32_t active = Route(ServerAddress());
  lab_.lose = [](testing::LabHost&, const mad::Outgoing&) { return true; };
  ASSERT_EQ(Connect(active), Refusal::kNone);
  lab_.timers().RunFor(absl::Seconds(98));
  EXPECT_THAT(client_.FetchTypes(), IsEmpty());
  lab_.timers().RunFor(absl::Seconds(1));
  const QueuedEvent event = client_.FetchOne();
  EXPECT_EQ(event.event.type, EventType::kUnreachable);
  EXPECT_EQ(event.event.status, -110);
}

TEST_F(RdmaCmTest, WithoutItsRtuThePassiveSideIsUnreachableUnlessNotified) {
  Listen();
  for (const bool notified : {false, true}) {
    lab_.lose = nullptr;
    const uint32_t active = Route(ServerAddress());
    Connect(active);
    const uint32_t passive = server_.FetchOne().told_id;
    server_.channel().Accept(server_.user_id(passive), 500, Parameters(), {});
    lab_.Settle();
    client_.Fetch();
    lab_.lose = [this](testing::LabHost& from, const mad::Outgoing&) {
      return &from == lab_.host(2).get();
    };
    client_.id(active).Establish();
    if (notified) {
      EXPECT_EQ(server_.id(passive).NotifyMigrated(), Refusal::kInvalid);
      EXPECT_EQ(server_.id(passive).NotifyEstablished(), Refusal::kNone);
      EXPECT_EQ(server_.id(passive).NotifyMigrated(), Refusal::kNone);
      lab_.Settle();
      EXPECT_THAT(server_.FetchTypes(), ElementsAre(EventType::kEstablished));
      EXPECT_EQ(server_.id(passive).NotifyEstablished(), Refusal::kConnected);
    } else {
      lab_.timers().RunFor(absl::Seconds(67));
      const QueuedEvent event = server_.FetchOne();
      EXPECT_EQ(event.event.type, EventType::kUnreachable);
      EXPECT_EQ(event.event.status, -110);
    }
  }
}

TEST_F(RdmaCmTest, CallsOfAnIdWithoutAConnectionAreInvalid) {
  const uint32_t id = Route(ServerAddress());
  EXPECT_EQ(client_.id(id).Disconnect(), Refusal::kInvalid);
  EXPECT_EQ(client_.id(id).NotifyEstablished(), Refusal::kInvalid);
  EXPECT_EQ(client_.id(id).NotifyMigrated(), Refusal::kInvalid);
  EXPECT_EQ(client_.id(id).Establish(), Refusal::kInvalid);
  EXPECT_EQ(client_.id(id).Accept(Parameters(), {}), Refusal::kInvalid);
  EXPECT_EQ(client_.id(id).Reject(cm::RejectReason::kConsumerDefined, {}),
            Refusal::kInvalid);
}

TEST_F(RdmaCmTest, AttributesBeforeARequestAreThoseForInit) {
  const uint32_t id = Route(ServerAddress());
  const auto attributes =
      client_.id(id).QpAttributesFor(verbs::QpState::kReadyToSend);
  ASSERT_TRUE(attributes.ok());
  EXPECT_EQ(attributes->qp_attr_mask, 0x39u);
  EXPECT_EQ(attributes->qp_state, 3u);
  EXPECT_EQ(attributes->port_num, 1);
  EXPECT_EQ(attributes->pkey_index, 0);
  EXPECT_EQ(attributes->qp_access_flags, 0u);
}

TEST_F(RdmaCmTest, AttributesOfAConnectionAreThoseOfItsRequestAndReply) {
  const auto [active, passive] = Establish();
  const auto to_receive =
      client_.id(active).QpAttributesFor(verbs::QpState::kReadyToReceive);
  const auto to_send =
      server_.id(passive).QpAttributesFor(verbs::QpState::kReadyToSend);
  ASSERT_TRUE(to_receive.ok() && to_send.ok());
  EXPECT_EQ(to_receive->qp_attr_mask, 0x129181u);
  EXPECT_EQ(to_receive->dest_qp_num, qp_num_);
  EXPECT_EQ(to_receive->ah_attr.dlid, 1);
  EXPECT_EQ(to_send->qp_attr_mask, 0x12e01u);
  // Where the recipient of the request begins to send.
  EXPECT_EQ(to_send->sq_psn, to_receive->rq_psn);
}

TEST_F(RdmaCmTest, AnAckTimeoutThatWasSetReplacesTheComputedOne) {
  const uint32_t id = client_.Create();
  EXPECT_EQ(client_.id(id).SetAckTimeout(9), Refusal::kNone);
  EXPECT_EQ(client_.id(client_.Create(PortSpace::kUdp)).SetAckTimeout(9),
            Refusal::kInvalid);
}

TEST_F(RdmaCmTest, IbAddressesConnectWithoutAHeader) {
  SocketAddress any = SocketAddress::Wildcard(Family::kIb);
  any.sid = ServiceId(PortSpace::kTcp, kPort);
  any.sid_mask = ~uint64_t{0};
  Listen(0, any);
  SocketAddress to =
      SocketAddress::Ib(lab_.host(1)->gid(), ServiceId(PortSpace::kTcp, kPort));
  to.pkey = 0xffff;
  // Data that begin with another byte than 0 would be taken for a header.
  ASSERT_EQ(Connect(Route(to)), Refusal::kNone);
  const QueuedEvent event = server_.FetchOne();
  EXPECT_EQ(event.event.type, EventType::kConnectRequest);
  EXPECT_EQ(ConnectionOf(event).private_data.size(), 92u);
  EXPECT_EQ(server_.id(event.told_id).source().family, Family::kIb);
}

TEST_F(RdmaCmTest, Ipv6ConnectsToAWildcardOfIpv6) {
  SocketAddress any = SocketAddress::Wildcard(Family::kIpv6);
  any.SetPort(kPort);
  Listen(0, any);
  ASSERT_EQ(
      Connect(Route(SocketAddress::Ip(lab_.host(1)->ipv6_address(), kPort))),
      Refusal::kNone);
  EXPECT_THAT(server_.FetchTypes(), ElementsAre(EventType::kConnectRequest));
  // The wildcard takes the other family, too.
  ASSERT_EQ(Connect(Route(ServerAddress())), Refusal::kNone);
  EXPECT_THAT(server_.FetchTypes(), ElementsAre(EventType::kConnectRequest));
}

}  // namespace
}  // namespace ibemu::rdma_cm
