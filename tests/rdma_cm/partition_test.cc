// Interfaces of further partitions: a port's ib0.8001 beside its ib0.
#include "tests/rdma_cm/fixture.h"

namespace ibemu::rdma_cm {
namespace {

constexpr uint16_t kPKey = 0x8001;

class PartitionTest : public RdmaCmTest {
 protected:
  static wire::IpAddress Address(int host) {
    return wire::IpAddress::Ipv4(0x64410000u + static_cast<uint32_t>(host));
  }

  PartitionTest() {
    for (const int host : {1, 2}) {
      auto& added = lab_.host(host)->AddInterface(kPKey, {Address(host), 16});
      for (const int other : {1, 2}) {
        added.neighbours[Address(other)] = lab_.host(other)->gid();
      }
    }
  }
  SocketAddress Server() { return SocketAddress::Ip(Address(1), kPort); }
};

TEST_F(PartitionTest, AnAddressLeadsToThePartitionOfItsInterface) {
  const uint32_t bound = server_.Create();
  ASSERT_EQ(server_.id(bound).Bind(Server(), false), Refusal::kNone);
  EXPECT_EQ(server_.id(bound).port()->pkey, kPKey);
  const uint32_t id = Route(Server());
  EXPECT_EQ(client_.id(id).port()->pkey, kPKey);
  EXPECT_EQ(client_.id(id).source().ip, Address(2));
  EXPECT_EQ(lab_.asked_path.p_key, kPKey);
  EXPECT_EQ(client_.id(Route(ServerAddress())).port()->pkey, 0xffff);
}

TEST_F(PartitionTest, AConnectionIsInThePartitionOfItsAddresses) {
  Listen(0, Server());
  const uint32_t active = Route(Server());
  ASSERT_EQ(Connect(active), Refusal::kNone);
  const QueuedEvent request = server_.FetchOne();
  ASSERT_EQ(request.event.type, EventType::kConnectRequest);
  Id& passive = server_.id(request.told_id);
  EXPECT_EQ(passive.port()->pkey, kPKey);
  EXPECT_EQ(passive.source().ip, Address(1));
  for (Id* const id : {&client_.id(active), &passive}) {
    const auto attributes = id->QpAttributesFor(verbs::QpState::kInit);
    ASSERT_TRUE(attributes.ok());
    EXPECT_EQ(attributes->pkey_index, 1);
  }
}

TEST_F(PartitionTest, AListenerOfOneInterfaceHearsNothingOfAnother) {
  Listen(0, Server());
  ASSERT_EQ(Connect(Route(ServerAddress())), Refusal::kNone);
  EXPECT_EQ(client_.FetchOne().event.status, 28);
}

// A wildcard listens at all interfaces.
TEST_F(PartitionTest, AListenerOfAllAddressesHearsEveryInterface) {
  Listen();
  for (const SocketAddress& to : {Server(), ServerAddress()}) {
    ASSERT_EQ(Connect(Route(to)), Refusal::kNone);
    EXPECT_EQ(server_.FetchOne().event.type, EventType::kConnectRequest);
  }
}

// As routes do.
TEST_F(PartitionTest, TheLongestPrefixLeadsToAnAddress) {
  for (const int host : {1, 2}) {
    wire::IpNetwork network{lab_.host(host)->address(), 24};
    network.address.bytes.back() = static_cast<uint8_t>(100 + host);
    lab_.host(host)->AddInterface(kPKey, network);
  }
  const auto neighbour = wire::IpAddress::Ipv4(0xc6120063);
  const uint32_t id = client_.Create();
  ASSERT_EQ(client_.id(id).ResolveAddress(
                {}, SocketAddress::Ip(neighbour, kPort), kTimeout, false),
            Refusal::kNone);
  EXPECT_EQ(client_.id(id).port()->pkey, kPKey);
}

// A subnet manager may move the first interface to the partition of another.
TEST_F(PartitionTest, OfTwoInterfacesInAPartitionThatWithTheAddressIsMeant) {
  for (const int host : {1, 2}) {
    auto& added = lab_.host(host)->AddInterface(0xffff, {Address(host), 16});
    for (const int other : {1, 2}) {
      added.neighbours[Address(other)] = lab_.host(other)->gid();
    }
  }
  Listen(0, Server());
  ASSERT_EQ(Connect(Route(ServerAddress())), Refusal::kNone);
  EXPECT_EQ(client_.FetchOne().event.status, 28);
  ASSERT_EQ(Connect(Route(Server())), Refusal::kNone);
  EXPECT_EQ(server_.FetchOne().event.type, EventType::kConnectRequest);
}

// A port without P_Keys has an interface that is down.
TEST_F(PartitionTest, AnInterfaceWhoseKeyIsNoPartitionsCanBeBoundTo) {
  lab_.host(1)->AddInterface(0x8000, {Address(1), 16});
  const uint32_t id = server_.Create();
  EXPECT_EQ(server_.id(id).Bind(Server(), false), Refusal::kNone);
}

// The interfaces of a host may be in one network; the request says by its P_Key
// which of them it came by.
TEST_F(PartitionTest, ARequestByAnotherInterfaceThanItsAddressIsRefused) {
  for (const int host : {1, 2}) {
    wire::IpNetwork network{lab_.host(host)->address(), 16};
    network.address.bytes.back() = static_cast<uint8_t>(100 + host);
    lab_.host(host)->AddInterface(kPKey, network);
  }
  Listen(0, ServerAddress());
  const uint32_t id = client_.Create();
  ASSERT_EQ(client_.id(id).ResolveAddress({}, ServerAddress(), kTimeout, false),
            Refusal::kNone);
  lab_.Settle();
  client_.Fetch();
  mad::PathRecord path = *client_.id(Route(ServerAddress())).path();
  path.p_key = kPKey;
  ASSERT_EQ(client_.id(id).SetPath(path), Refusal::kNone);
  EXPECT_THAT(client_.FetchTypes(), ElementsAre(EventType::kRouteResolved));
  ASSERT_EQ(Connect(id), Refusal::kNone);
  EXPECT_EQ(client_.FetchOne().event.status, 28);
}

TEST_F(PartitionTest, AGroupIsThatOfThePartition) {
  const uint32_t id = client_.Create(PortSpace::kUdp);
  ASSERT_EQ(client_.id(id).Bind(SocketAddress::Ip(Address(2), kPort), false),
            Refusal::kNone);
  std::vector<EventType> told;
  const auto join = client_.id(id).Join(
      SocketAddress::Ip(wire::IpAddress::Ipv4(0xe0010101), 0), 1,
      [&](const Event& event) { told.push_back(event.type); });
  ASSERT_TRUE(join.ok());
  lab_.Settle();
  EXPECT_THAT(told, ElementsAre(EventType::kMulticastJoin));
  EXPECT_EQ(lab_.asked_group.p_key, kPKey);
  EXPECT_EQ(lab_.asked_group.mgid.prefix >> 16 & 0xffff, kPKey);
}

}  // namespace
}  // namespace ibemu::rdma_cm
