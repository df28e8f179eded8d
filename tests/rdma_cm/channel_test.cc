// The numbers of ids, their owners, the counts of events, the backlog.

#include "tests/rdma_cm/fixture.h"

namespace ibemu::rdma_cm {
namespace {

using ChannelTest = RdmaCmTest;

TEST_F(ChannelTest, IdsHaveTheLowestFreeNumberOfAllOpensOfTheView) {
  EXPECT_EQ(server_.Create(), 0u);
  EXPECT_EQ(server_.Create(), 1u);
  const auto other = server_.Open();
  EXPECT_EQ(*other->Create(9, PortSpace::kTcp, 0), 2u);
  EXPECT_TRUE(server_.channel().Destroy(0).ok());
  EXPECT_EQ(*other->Create(9, PortSpace::kTcp, 0), 0u);
}

TEST_F(ChannelTest, UnknownIdsAndThoseOfOtherOpensAreToldApart) {
  const auto other = server_.Open();
  const uint32_t id = *other->Create(9, PortSpace::kTcp, 0);
  EXPECT_EQ(server_.channel().Find(id).refusal(), Refusal::kInvalid);
  EXPECT_EQ(server_.channel().Destroy(id).refusal(), Refusal::kInvalid);
  EXPECT_EQ(server_.channel().Find(77).refusal(), Refusal::kNoSuchId);
  EXPECT_TRUE(other->Destroy(id).ok());
  EXPECT_EQ(other->Destroy(id).refusal(), Refusal::kNoSuchId);
}

TEST_F(ChannelTest, AnIdWithoutAnAdapterIsRefusedWhereOneIsNeeded) {
  const uint32_t id = server_.Create();
  EXPECT_EQ(server_.channel().Find(id, Channel::Needs::kDevice).refusal(),
            Refusal::kInvalid);
  server_.id(id).Bind(ServerAddress(), false);
  EXPECT_TRUE(server_.channel().Find(id, Channel::Needs::kDevice).ok());
}

TEST_F(ChannelTest, DestroyTellsHowManyEventsWereFetched) {
  const uint32_t id = Route(ServerAddress());
  Connect(id);
  ASSERT_TRUE(client_.channel().has_event());
  EXPECT_EQ(*client_.channel().Destroy(id), 2u);
  EXPECT_FALSE(client_.channel().has_event());
}

TEST_F(ChannelTest, ARequestCountsForItsListener) {
  const uint32_t listener = Listen();
  Connect(Route(ServerAddress()));
  const uint32_t passive = server_.FetchOne().told_id;
  EXPECT_EQ(*server_.channel().Destroy(passive), 0u);
  EXPECT_EQ(*server_.channel().Destroy(listener), 1u);
}

TEST_F(ChannelTest, AnEventThatIsPutBackDoesNotCount) {
  const uint32_t id = Route(ServerAddress());
  Connect(id);
  QueuedEvent event = client_.channel().Fetch();
  EXPECT_EQ(client_.user_id(id).events_reported, 3u);
  client_.channel().PutBack(std::move(event));
  EXPECT_EQ(client_.user_id(id).events_reported, 2u);
  EXPECT_TRUE(client_.channel().has_event());
}

TEST_F(ChannelTest, AnEventOfAnIdThatEndedIsNotPutBack) {
  const uint32_t id = Route(ServerAddress());
  Connect(id);
  QueuedEvent event = client_.channel().Fetch();
  EXPECT_TRUE(client_.channel().Destroy(id).ok());
  client_.channel().PutBack(std::move(event));
  EXPECT_FALSE(client_.channel().has_event());
}

TEST_F(ChannelTest, AnIdWhoseUidIs0IsToldNothing) {
  const uint32_t id = *client_.channel().Create(0, PortSpace::kTcp, 0);
  client_.id(id).ResolveAddress({}, ServerAddress(), kTimeout, false);
  lab_.Settle();
  EXPECT_EQ(client_.id(id).state(), Id::State::kAddressResolved);
  EXPECT_FALSE(client_.channel().has_event());
}

TEST_F(ChannelTest,
       OfThreeClientsAndABacklogOfOneTheOthersGetInByTheirRetries) {
  Listen(1);
  std::vector<uint32_t> ids;
  for (int i = 0; i < 3; ++i) {
    ids.push_back(Route(ServerAddress()));
    Connect(ids.back());
  }
  EXPECT_THAT(client_.FetchTypes(), IsEmpty());
  EXPECT_THAT(server_.FetchTypes(), ElementsAre(EventType::kConnectRequest));
  lab_.timers().RunFor(absl::Seconds(6.2));
  EXPECT_THAT(server_.FetchTypes(), ElementsAre(EventType::kConnectRequest));
  lab_.timers().RunFor(absl::Seconds(6.2));
  EXPECT_THAT(server_.FetchTypes(), ElementsAre(EventType::kConnectRequest));
  EXPECT_THAT(client_.FetchTypes(), IsEmpty());
}

TEST_F(ChannelTest, RequestsThatNobodyFetchedEndWithTheirListener) {
  const uint32_t listener = Listen();
  Connect(Route(ServerAddress()));
  ASSERT_TRUE(server_.channel().has_event());
  EXPECT_EQ(*server_.channel().Destroy(listener), 0u);
  EXPECT_FALSE(server_.channel().has_event());
  lab_.Settle();
  EXPECT_EQ(client_.FetchOne().event.status, 28);
  EXPECT_EQ(server_.Create(), 0u);
  EXPECT_EQ(server_.Create(), 1u);
}

TEST_F(ChannelTest, ClosingEndsConnections) {
  Establish();
  server_.Close();
  lab_.Settle();
  EXPECT_THAT(client_.FetchTypes(), ElementsAre(EventType::kDisconnected));
}

TEST_F(ChannelTest, AnIdMovesWithItsEventsToAnotherOpenOfTheUser) {
  const uint32_t id = Route(ServerAddress());
  Connect(id);
  const auto other = client_.Open();
  EXPECT_EQ(*other->TakeOver(id), 2u);
  EXPECT_FALSE(client_.channel().has_event());
  ASSERT_TRUE(other->has_event());
  EXPECT_EQ(other->Fetch().event.type, EventType::kRejected);
  EXPECT_EQ(client_.channel().Find(id).refusal(), Refusal::kInvalid);
  EXPECT_EQ(*other->Destroy(id), 3u);
}

TEST_F(ChannelTest, AnIdDoesNotMoveToAnotherUser) {
  const uint32_t id = client_.Create();
  const auto other = client_.Open();
  other->SetUser(1000);
  EXPECT_EQ(other->TakeOver(id).refusal(), Refusal::kInvalid);
  EXPECT_EQ(other->TakeOver(99).refusal(), Refusal::kNoSuchId);
}

TEST_F(ChannelTest, AThousandIdsAreNothingSpecial) {
  for (uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(client_.Create(), i);
  client_.Close();
}

TEST_F(ChannelTest, AnOpenHasNoMoreThan16384Ids) {
  for (size_t i = 0; i < Channel::kMaxIds; ++i) {
    ASSERT_TRUE(client_.channel().Create(1, PortSpace::kTcp, 0).ok());
  }
  EXPECT_EQ(client_.channel().Create(1, PortSpace::kTcp, 0).refusal(),
            Refusal::kNoMemory);
}

// As the end of a loopback connection may tell its other end of it.
TEST_F(ChannelTest, AnOpenThatEndsTellsNobodyOfEvents) {
  const uint32_t last = client_.Create(PortSpace::kUdp);
  client_.id(last).Bind(Any(), false);
  const std::shared_ptr<UserId> id = *client_.channel().Find(last);
  const uint32_t first = client_.Create(PortSpace::kUdp);
  client_.id(first).ResolveAddress({}, ServerAddress(), kTimeout, false);
  lab_.Settle();
  // What its membership holds on to speaks when it is let go.
  std::shared_ptr<void> parting(nullptr,
                                [id](void*) { id->owner().OnEvent(id, {}); });
  const auto group = SocketAddress::Ip(wire::IpAddress::Ipv4(0xe0010101), 0);
  ASSERT_TRUE(
      client_.channel()
          .Join(*client_.channel().Find(first), 1, group, mad::kFullMember)
          .ok());
  client_.user_id(first).joins().front()->join = *client_.id(first).Join(
      group, mad::kFullMember, [parting](const Event&) {});
  (void)client_.FetchTypes();
  parting.reset();
  client_.told = 0;
  client_.Close();
  EXPECT_EQ(client_.told, 0);
}

// Queues as many events of the id as an open keeps.
void FillQueue(const std::shared_ptr<UserId>& id) {
  for (size_t i = 0; i < Channel::kMaxEvents; ++i) id->owner().OnEvent(id, {});
}

TEST_F(ChannelTest, ClosingEndsARequestThatMovedBeforeItWasFetched) {
  const uint32_t listener = Listen();
  Connect(Route(ServerAddress()));
  const auto other = server_.Open();
  EXPECT_EQ(*other->TakeOver(listener + 1), 0u);
  server_.Close();
  lab_.Settle();
  EXPECT_EQ(client_.FetchOne().event.status, 28);
  EXPECT_EQ(other->Find(listener + 1).refusal(), Refusal::kNoSuchId);
}

// librdmacm keeps its ids in a table of that size.
TEST_F(ChannelTest, NoIdHasANumberOf65536OrMore) {
  std::vector<std::unique_ptr<Channel>> opens;
  for (int open = 0; open < 4; ++open) {
    opens.push_back(client_.Open());
    for (size_t i = 0; i < Channel::kMaxIds; ++i) {
      ASSERT_TRUE(opens.back()->Create(1, PortSpace::kTcp, 0).ok());
    }
  }
  EXPECT_EQ(client_.channel().Create(1, PortSpace::kTcp, 0).refusal(),
            Refusal::kNoMemory);
  EXPECT_TRUE(opens.front()->Destroy(9).ok());
  EXPECT_EQ(*client_.channel().Create(1, PortSpace::kTcp, 0), 9u);
}

TEST_F(ChannelTest, AnIdWhoseEventsDoNotFitStaysWhereItIs) {
  const uint32_t id = Route(ServerAddress());
  Connect(id);
  const auto other = client_.Open();
  FillQueue(*other->Find(*other->Create(1, PortSpace::kTcp, 0)));
  EXPECT_EQ(other->TakeOver(id).refusal(), Refusal::kNoMemory);
  EXPECT_TRUE(client_.channel().Find(id).ok());
  EXPECT_THAT(client_.FetchTypes(), ElementsAre(EventType::kRejected));
  EXPECT_EQ(*other->TakeOver(id), 3u);
}

TEST_F(ChannelTest, ARequestThatIsPutBackAfterItsListenerEndedIsRejected) {
  const uint32_t listener = Listen();
  Connect(Route(ServerAddress()));
  QueuedEvent event = server_.channel().Fetch();
  const uint32_t passive = event.told_id;
  EXPECT_EQ(*server_.channel().Destroy(listener), 1u);
  server_.channel().PutBack(std::move(event));
  lab_.Settle();
  EXPECT_EQ(server_.channel().Find(passive).refusal(), Refusal::kNoSuchId);
  EXPECT_EQ(client_.FetchOne().event.status, 28);
}

TEST_F(ChannelTest, AnEventIsPutBackWhereItsIdHasMovedTo) {
  const uint32_t id = Route(ServerAddress());
  Connect(id);
  QueuedEvent event = client_.channel().Fetch();
  const auto other = client_.Open();
  EXPECT_EQ(*other->TakeOver(id), 3u);
  client_.told = 0;
  client_.channel().PutBack(std::move(event));
  EXPECT_EQ(client_.told, 1);
  EXPECT_FALSE(client_.channel().has_event());
  ASSERT_TRUE(other->has_event());
  EXPECT_EQ(other->Fetch().event.type, EventType::kRejected);
  EXPECT_EQ(*other->Destroy(id), 3u);
}

TEST_F(ChannelTest, AnIdDoesNotMoveToAUserWhomNobodyKnows) {
  const uint32_t id = client_.Create();
  const auto other = client_.Open();
  client_.channel().SetUser(UINT64_MAX);
  other->SetUser(UINT64_MAX);
  EXPECT_EQ(other->TakeOver(id).refusal(), Refusal::kInvalid);
}

// ----- Removal

TEST_F(ChannelTest, IdsOfAnAdapterThatIsRemovedAreToldAndEnd) {
  const uint32_t passive = Establish().second;
  server_.adapters().Remove(lab_.host(1));
  const QueuedEvent event = server_.FetchOne();
  EXPECT_EQ(event.event.type, EventType::kDeviceRemoval);
  EXPECT_EQ(event.told_id, passive);
  EXPECT_EQ(server_.channel().Find(passive).refusal(), Refusal::kRemoved);
  EXPECT_EQ(*server_.channel().Destroy(passive), 2u);
}

TEST_F(ChannelTest, AListenerOfAllAdaptersOutlivesOneAndListensAtTheNext) {
  const uint32_t listener = Listen();
  server_.adapters().Remove(lab_.host(1));
  EXPECT_TRUE(server_.channel().Find(listener).ok());
  EXPECT_FALSE(server_.channel().has_event());
  Connect(Route(ServerAddress()));
  EXPECT_EQ(client_.FetchOne().event.status, 8);
  server_.adapters().Add(lab_.host(1));
  Connect(Route(ServerAddress()));
  EXPECT_THAT(server_.FetchTypes(), ElementsAre(EventType::kConnectRequest));
}

TEST_F(ChannelTest, RemovalWhileResolvingTellsNothingElse) {
  const uint32_t id = client_.Create();
  client_.id(id).ResolveAddress({}, ServerAddress(), kTimeout, false);
  client_.adapters().Remove(lab_.host(2));
  lab_.timers().RunFor(absl::Seconds(5));
  EXPECT_THAT(client_.FetchTypes(), ElementsAre(EventType::kDeviceRemoval));
}

}  // namespace
}  // namespace ibemu::rdma_cm
