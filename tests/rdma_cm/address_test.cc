// Binding and resolving: addresses, ports, routes, options.
#include "tests/rdma_cm/fixture.h"

namespace ibemu::rdma_cm {
namespace {

using AddressTest = RdmaCmTest;

TEST_F(AddressTest, ThePortOfAnIdThatAsksForNoneIsFromLinuxsRange) {
  const uint32_t id = server_.Create();
  ASSERT_EQ(server_.id(id).Bind(Any(0), false), Refusal::kNone);
  EXPECT_GE(server_.id(id).source().port(), 32768);
  EXPECT_LE(server_.id(id).source().port(), 60999);
  EXPECT_FALSE(server_.id(id).port().has_value());
  EXPECT_EQ(server_.id(id).Bind(Any(0), false), Refusal::kInvalid);
}

TEST_F(AddressTest, TheProbeOfLibrdmacmSucceeds) {
  SocketAddress probe = SocketAddress::Wildcard(Family::kIb);
  probe.sid = 0x0000000001060000;
  probe.sid_mask = 0xffffffffffff0000;
  const uint32_t id = server_.Create(PortSpace::kIb);
  ASSERT_EQ(server_.id(id).Bind(probe, false), Refusal::kNone);
  EXPECT_EQ(server_.id(id).source().sid >> 16, 0x0106u);
  EXPECT_EQ(server_.id(id).source().sid_mask, ~uint64_t{0});
}

TEST_F(AddressTest, AServiceIdOfAnotherPortSpaceIsRefused) {
  SocketAddress address = SocketAddress::Wildcard(Family::kIb);
  address.sid = ServiceId(PortSpace::kUdp, 5);
  address.sid_mask = ~uint64_t{0};
  EXPECT_EQ(server_.id(server_.Create()).Bind(address, false),
            Refusal::kNoSuchPortSpace);
}

TEST_F(AddressTest, AnAddressOfNobodyHereCantBeBoundTo) {
  const uint32_t id = server_.Create();
  EXPECT_EQ(server_.id(id).Bind(
                SocketAddress::Ip(lab_.host(2)->address(), kPort), false),
            Refusal::kNoSuchAddress);
  EXPECT_EQ(
      server_.id(id).Bind(SocketAddress::Ib(lab_.host(2)->gid(), 0, 0), false),
      Refusal::kNoDevice);
  EXPECT_EQ(server_.id(id).state(), Id::State::kIdle);
  EXPECT_EQ(server_.id(id).Bind(ServerAddress(), false), Refusal::kNone);
  EXPECT_EQ(server_.id(id).port()->number, 1);
}

TEST_F(AddressTest, ALinkLocalAddressNeedsAScope) {
  wire::IpAddress address = wire::IpAddress::Ipv6({0xfe, 0x80});
  EXPECT_EQ(server_.id(server_.Create())
                .Bind(SocketAddress::Ip(address, kPort), false),
            Refusal::kInvalid);
}

TEST_F(AddressTest, PortsBelow1024AreForThePrivileged) {
  const uint32_t id = server_.Create();
  EXPECT_EQ(server_.id(id).Bind(Any(1023), false), Refusal::kNotPermitted);
  EXPECT_EQ(server_.id(id).Bind(Any(1023), true), Refusal::kNone);
}

TEST_F(AddressTest, APortIsTakenAtTheSameAddressAndByAWildcard) {
  const auto bind = [this](const SocketAddress& address,
                           PortSpace space = PortSpace::kTcp) {
    return server_.id(server_.Create(space)).Bind(address, false);
  };
  EXPECT_EQ(bind(ServerAddress()), Refusal::kNone);
  EXPECT_EQ(bind(ServerAddress()), Refusal::kAddressInUse);
  EXPECT_EQ(bind(Any()), Refusal::kNoSuchAddress);
  EXPECT_EQ(bind(SocketAddress::Ip(lab_.host(1)->ipv6_address(), kPort)),
            Refusal::kNone);
  EXPECT_EQ(bind(ServerAddress(), PortSpace::kUdp), Refusal::kNone);
}

TEST_F(AddressTest, OtherViewsOfAHostShareItsPorts) {
  Program other(lab_, 1);
  EXPECT_EQ(server_.id(server_.Create()).Bind(Any(), false), Refusal::kNone);
  EXPECT_EQ(other.id(other.Create()).Bind(Any(), false),
            Refusal::kNoSuchAddress);
  Program elsewhere(lab_, 2);
  EXPECT_EQ(elsewhere.id(elsewhere.Create()).Bind(Any(), false),
            Refusal::kNone);
}

TEST_F(AddressTest, APortIsSharedByThoseThatReuseAndListenedOnByOne) {
  std::vector<uint32_t> ids;
  for (int i = 0; i < 2; ++i) {
    ids.push_back(server_.Create());
    EXPECT_EQ(server_.id(ids.back()).SetReuseAddress(true), Refusal::kNone);
    EXPECT_EQ(server_.id(ids.back()).Bind(Any(), false), Refusal::kNone);
  }
  EXPECT_EQ(server_.id(ids[0]).SetReuseAddress(false), Refusal::kInvalid);
  EXPECT_EQ(server_.id(ids[0]).Listen(), Refusal::kNoSuchAddress);
  server_.channel().Destroy(ids[1]).ok();
  EXPECT_EQ(server_.id(ids[0]).Listen(), Refusal::kNone);
  EXPECT_EQ(server_.id(ids[0]).Listen(), Refusal::kInvalid);
}

TEST_F(AddressTest, FamiliesThatKeepToThemselvesShareAPort) {
  const uint32_t ipv4 = server_.Create();
  const uint32_t ipv6 = server_.Create();
  EXPECT_EQ(server_.id(ipv6).SetOnlyFamily(true), Refusal::kNone);
  SocketAddress any = SocketAddress::Wildcard(Family::kIpv6);
  any.SetPort(kPort);
  EXPECT_EQ(server_.id(ipv4).Bind(Any(), false), Refusal::kNone);
  EXPECT_EQ(server_.id(ipv6).Bind(any, false), Refusal::kNone);
  EXPECT_EQ(server_.id(ipv4).Listen(), Refusal::kNone);
  EXPECT_EQ(server_.id(ipv6).Listen(), Refusal::kNone);
}

TEST_F(AddressTest, AnIdThatListensUnboundIsBoundFirst) {
  const uint32_t id = server_.Create();
  EXPECT_EQ(server_.id(id).Listen(), Refusal::kNone);
  EXPECT_NE(server_.id(id).source().port(), 0);
}

// ----- Resolving

TEST_F(AddressTest, TheSourceIsTheRoutesAndKeepsItsPort) {
  const uint32_t id = client_.Create();
  ASSERT_EQ(client_.id(id).Bind(Any(0), false), Refusal::kNone);
  const uint16_t port = client_.id(id).source().port();
  ASSERT_EQ(client_.id(id).ResolveAddress({}, ServerAddress(), kTimeout, false),
            Refusal::kNone);
  EXPECT_EQ(client_.id(id).state(), Id::State::kAddressQuery);
  EXPECT_FALSE(client_.channel().has_event());
  lab_.Settle();
  EXPECT_THAT(client_.FetchTypes(), ElementsAre(EventType::kAddressResolved));
  EXPECT_EQ(client_.id(id).source(),
            SocketAddress::Ip(lab_.host(2)->address(), port));
  EXPECT_EQ(client_.id(id).remote_gid(), lab_.host(1)->gid());
}

TEST_F(AddressTest,
       AnAddressOfNobodyIsAnErrorAfterTheTimeoutAndMayBeTriedAgain) {
  const uint32_t id = client_.Create();
  const auto nobody = SocketAddress::Ip(wire::IpAddress::Ipv4(0xc6120099), 1);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(client_.id(id).ResolveAddress({}, nobody, kTimeout, false),
              Refusal::kNone);
    lab_.timers().RunFor(kTimeout - absl::Milliseconds(1));
    EXPECT_FALSE(client_.channel().has_event());
    lab_.timers().RunFor(absl::Milliseconds(2));
    const QueuedEvent event = client_.FetchOne();
    EXPECT_EQ(event.event.type, EventType::kAddressError);
    EXPECT_EQ(event.event.status, -110);
    EXPECT_EQ(client_.id(id).state(), Id::State::kAddressBound);
  }
}

TEST_F(AddressTest, AnotherNetworkIsUnreachableAtOnce) {
  const uint32_t id = client_.Create();
  EXPECT_EQ(client_.id(id).ResolveAddress(
                {}, SocketAddress::Ip(wire::IpAddress::Ipv4(0x08080808), 1),
                kTimeout, false),
            Refusal::kUnreachable);
  EXPECT_EQ(client_.id(id).state(), Id::State::kAddressBound);
}

TEST_F(AddressTest, FamiliesMustAgreeAndStatesBeRight) {
  const uint32_t id = client_.Create();
  client_.id(id).Bind(Any(0), false);
  EXPECT_EQ(client_.id(id).ResolveAddress(
                {}, SocketAddress::Wildcard(Family::kIpv6), kTimeout, false),
            Refusal::kInvalid);
  EXPECT_EQ(client_.id(id).ResolveRoute(kTimeout), Refusal::kInvalid);
  client_.id(id).ResolveAddress({}, ServerAddress(), kTimeout, false);
  EXPECT_EQ(client_.id(id).ResolveAddress({}, ServerAddress(), kTimeout, false),
            Refusal::kInvalid);
}

TEST_F(AddressTest, LoopbackResolvesToTheFirstActivePort) {
  const uint32_t id = client_.Create();
  const auto loopback = SocketAddress::Ip(wire::IpAddress::Ipv4(0x7f000001), 1);
  ASSERT_EQ(client_.id(id).ResolveAddress({}, loopback, kTimeout, false),
            Refusal::kNone);
  lab_.Settle();
  EXPECT_EQ(client_.id(id).remote_gid(), lab_.host(2)->gid());
  EXPECT_EQ(client_.id(id).source().ip, loopback.ip);
}

TEST_F(AddressTest, AnIbAddressIsReachedByThePortOfItsSubnet) {
  const uint32_t id = client_.Create();
  SocketAddress to =
      SocketAddress::Ib(lab_.host(1)->gid(), ServiceId(PortSpace::kTcp, kPort));
  to.pkey = 0xffff;
  ASSERT_EQ(client_.id(id).ResolveAddress({}, to, kTimeout, false),
            Refusal::kNone);
  lab_.Settle();
  EXPECT_EQ(client_.id(id).source().gid, lab_.host(2)->gid());
  to.gid.prefix = 0x1234;
  EXPECT_EQ(
      client_.id(client_.Create()).ResolveAddress({}, to, kTimeout, false),
      Refusal::kNoDevice);
}

// ----- Routes

TEST_F(AddressTest, ThePathIsAskedForAsLinuxAsks) {
  const uint32_t id = client_.Create();
  client_.id(id).SetTypeOfService(0x28);
  client_.id(id).ResolveAddress({}, ServerAddress(), kTimeout, false);
  lab_.Settle();
  EXPECT_EQ(client_.id(id).ResolveRoute(absl::ZeroDuration()),
            Refusal::kInvalid);
  ASSERT_EQ(client_.id(id).ResolveRoute(kTimeout), Refusal::kNone);
  lab_.Settle();
  EXPECT_EQ(lab_.asked.component_mask, 0x780fu);
  EXPECT_EQ(lab_.asked_path.service_id_lsb, ServiceId(PortSpace::kTcp, kPort));
  EXPECT_EQ(lab_.asked_path.qos_class, 0x28);
  EXPECT_EQ(lab_.asked_path.num_path, 1);
  EXPECT_TRUE(lab_.asked_path.reversible);
  ASSERT_TRUE(client_.id(id).path().has_value());
  EXPECT_EQ(client_.id(id).path()->dlid, wire::Lid{1});
}

TEST_F(AddressTest, ARouteThatIsRefusedMayBeAskedForAgain) {
  const uint32_t id = client_.Create();
  client_.id(id).ResolveAddress({}, ServerAddress(), kTimeout, false);
  lab_.Settle();
  client_.Fetch();
  lab_.sa_status = mad::MadStatus::kSaNoRecords;
  client_.id(id).ResolveRoute(kTimeout);
  lab_.Settle();
  QueuedEvent event = client_.FetchOne();
  EXPECT_EQ(event.event.type, EventType::kRouteError);
  EXPECT_EQ(event.event.status, -22);

  lab_.lose = [](testing::LabHost&, const mad::Outgoing&) { return true; };
  client_.id(id).ResolveRoute(kTimeout);
  lab_.timers().RunFor(kTimeout * 1.1);
  event = client_.FetchOne();
  EXPECT_EQ(event.event.type, EventType::kRouteError);
  EXPECT_EQ(event.event.status, -110);
}

TEST_F(AddressTest, WithoutASubnetManagerThereIsNoRouteYet) {
  const uint32_t id = client_.Create();
  client_.id(id).ResolveAddress({}, ServerAddress(), kTimeout, false);
  lab_.Settle();
  lab_.host(2)->port().info.master_sm_lid = wire::Lid::kUnassigned;
  EXPECT_EQ(client_.id(id).ResolveRoute(kTimeout), Refusal::kTryAgain);
  EXPECT_EQ(client_.id(id).state(), Id::State::kAddressResolved);
}

TEST_F(AddressTest, APathThatIsGivenIsARouteAtOnce) {
  const uint32_t id = client_.Create();
  EXPECT_EQ(client_.id(id).SetPath({}), Refusal::kInvalid);
  client_.id(id).ResolveAddress({}, ServerAddress(), kTimeout, false);
  lab_.Settle();
  client_.Fetch();
  EXPECT_EQ(client_.id(id).SetPath({.dlid = wire::Lid{1}}), Refusal::kNone);
  EXPECT_THAT(client_.FetchTypes(), ElementsAre(EventType::kRouteResolved));
  EXPECT_EQ(client_.id(id).path()->dlid, wire::Lid{1});
}

TEST_F(AddressTest, DestroyingAnIdCancelsItsQuestions) {
  const uint32_t id = client_.Create();
  client_.id(id).ResolveAddress({}, ServerAddress(), kTimeout, false);
  EXPECT_TRUE(client_.channel().Destroy(id).ok());
  const uint32_t other = client_.Create();
  client_.id(other).ResolveAddress({}, ServerAddress(), kTimeout, false);
  lab_.Settle();
  client_.id(other).ResolveRoute(kTimeout);
  client_.Fetch();
  EXPECT_TRUE(client_.channel().Destroy(other).ok());
  lab_.timers().RunFor(absl::Seconds(5));
  EXPECT_FALSE(client_.channel().has_event());
}

}  // namespace
}  // namespace ibemu::rdma_cm
