// Connections between two hosts.
#include "cm/connection_manager.h"

#include <set>

#include "cm/wire/sidr_messages.h"
#include "tests/cm/fixture.h"
#include "tests/cm/wire/alternate_path_messages.h"

namespace ibemu::cm {
namespace {

using absl::StatusCode;
using Kind = CmEvent::Kind;

class ConnectionManagerTest : public CmTest {
 protected:
  static size_t Index(Message message) { return static_cast<size_t>(message); }
};

TEST_F(ConnectionManagerTest, ThreeMessagesConnectAndTwoDisconnect) {
  Connect();

  ASSERT_TRUE(id_->SendDreq({}).ok());
  Settle();
  EXPECT_THAT(server_.user.TakeKinds(), ElementsAre(Kind::kDreq));
  ASSERT_TRUE(peer().SendDrep({}).ok());
  Settle();
  EXPECT_THAT(client_.user.TakeKinds(), ElementsAre(Kind::kDrep));
  EXPECT_THAT(TakeSent(), ElementsAre(Message::kDreq, Message::kDrep));

  timers_.RunFor(absl::Seconds(3));
  EXPECT_THAT(client_.user.TakeKinds(), ElementsAre(Kind::kTimewaitExit));
  EXPECT_THAT(server_.user.TakeKinds(), ElementsAre(Kind::kTimewaitExit));
  EXPECT_TRUE(timers_.idle());
}

TEST_F(ConnectionManagerTest, AListenerIsToldWhatTheReqSays) {
  SendRequest();
  ASSERT_THAT(server_.user.requests, SizeIs(1));
  const Arrived& arrived = server_.user.requests[0];
  EXPECT_FALSE(arrived.sidr);
  EXPECT_EQ(arrived.port, 1);
  EXPECT_EQ(arrived.service_id, kService);
  EXPECT_EQ(arrived.peer_ca, client_.device.node_guid());
  EXPECT_EQ(arrived.pkey, 0xffff);
  EXPECT_EQ(arrived.local_gid, Path().dgid);
  EXPECT_EQ(arrived.from.dlid, wire::Lid{1});
  EXPECT_EQ(arrived.request.qpn, 0x111u);
  EXPECT_EQ(arrived.request.starting_psn, 0xaaaaaau);
  EXPECT_EQ(arrived.request.responder_resources, 4);
  EXPECT_EQ(arrived.request.initiator_depth, 8);
  EXPECT_TRUE(arrived.request.flow_control);
  EXPECT_EQ(arrived.request.retry_count, 7);
  EXPECT_EQ(arrived.request.rnr_retry_count, 6);
  ASSERT_THAT(arrived.private_data, SizeIs(92));
  EXPECT_EQ(arrived.private_data[1], std::byte{2});

  EXPECT_EQ(arrived.path.sgid, Path().dgid);
  EXPECT_EQ(arrived.path.dgid, Path().sgid);
  EXPECT_EQ(arrived.path.slid, Path().dlid);
  EXPECT_EQ(arrived.path.dlid, Path().slid);
  EXPECT_EQ(arrived.path.sl, 3);
  EXPECT_EQ(arrived.path.mtu, 4);
  EXPECT_EQ(arrived.path.rate, 7);
  EXPECT_EQ(arrived.path.packet_life_time, 18);
  EXPECT_EQ(arrived.path.hop_limit, 0);
}

TEST_F(ConnectionManagerTest, CommunicationIdsDifferAndAreNotZero) {
  std::vector<std::unique_ptr<CmId>> ids;
  std::set<uint32_t> numbers;
  for (uint32_t i = 0; i < 100; ++i) {
    ids.push_back(client_.manager->Create(client_.user));
    ASSERT_TRUE(ids.back()->SendReq(Ask(0x500 + i)).ok());
    numbers.insert(LastOf<Req>(client_).local_comm_id);
  }
  EXPECT_THAT(numbers, SizeIs(100));
  EXPECT_FALSE(numbers.contains(0));
}

TEST_F(ConnectionManagerTest, AHostConnectsToItself) {
  auto listening = client_.manager->Listen(kService, client_.user);
  ASSERT_TRUE(listening.ok());
  CmRequest request = Ask();
  request.path.dgid = request.path.sgid;
  request.path.dlid = request.path.slid;
  id_ = client_.manager->Create(server_.user);
  ASSERT_TRUE(id_->SendReq(request).ok());
  Settle();
  ASSERT_THAT(client_.user.ids, SizeIs(1));
  ASSERT_TRUE(client_.user.ids[0]->SendRep(Answer()).ok());
  Settle();
  ASSERT_TRUE(id_->SendRtu({}).ok());
  Settle();
  EXPECT_THAT(client_.user.TakeKinds(), ElementsAre(Kind::kRtu));
  EXPECT_THAT(server_.user.TakeKinds(), ElementsAre(Kind::kRep));
}

// --- The checks of a REQ, in order.

class ReqChecksTest : public CmTest {
 protected:
  // A REQ of a third host that nothing is wrong with.
  static Req Good() {
    return {.local_comm_id = 0x777,
            .service_id = kService,
            .local_ca_guid = wire::Guid{0x3333},
            .local_qpn = 0x999,
            .local_cm_response_timeout = 20,
            .p_key = 0xffff,
            .path_mtu = 4,
            .max_cm_retries = 15,
            .primary = {.local_lid = wire::Lid{9},
                        .remote_lid = wire::Lid{2},
                        .local_gid = {wire::kDefaultGidPrefix, 0x2009},
                        .remote_gid = {wire::kDefaultGidPrefix, 0x2002},
                        .subnet_local = true},
            .primary_local_ack_timeout = 19};
  }

  // Expects the REJ for a REQ that has no end here.
  Rej ExpectRejected(const Req& req, RejectReason reason) {
    server_.port().sent.clear();
    Deliver(server_, req);
    EXPECT_FALSE(server_.port().sent.empty());
    const mad::Outgoing& first = server_.port().sent.front();
    EXPECT_EQ(MessageOf(first.mad), Message::kRej);
    EXPECT_EQ(first.to.dlid, wire::Lid{9});
    EXPECT_EQ(wire::Get<&mad::MadHeader::tid>(first.mad), 0x5555u);
    const auto rej = BodyOf<Rej>(first.mad);
    EXPECT_EQ(rej.reason, static_cast<uint16_t>(reason));
    EXPECT_EQ(rej.local_comm_id, 0u);
    EXPECT_EQ(rej.remote_comm_id, req.local_comm_id);
    EXPECT_EQ(rej.message_rejected, About::kReq);
    return rej;
  }
};

TEST_F(ReqChecksTest, AGoodOneIsToldAndAnsweredByItsPath) {
  Listen();
  Deliver(server_, Good());
  ASSERT_THAT(server_.user.ids, SizeIs(1));
  ASSERT_TRUE(peer().SendRep(Answer()).ok());
  EXPECT_EQ(server_.port().sent.back().to.dlid, wire::Lid{9});
}

TEST_F(ReqChecksTest, TheSameCommIdIsADuplicateWhateverElseItSays) {
  Listen();
  Deliver(server_, Good());
  Req again = Good();
  again.service_id = 1;
  again.local_qpn = 5;
  Deliver(server_, again);
  EXPECT_THAT(server_.port().sent, IsEmpty());
  EXPECT_THAT(server_.user.requests, SizeIs(1));
  EXPECT_EQ(server_.manager->counters(1).rx_duplicates[0], 1u);
}

TEST_F(ReqChecksTest, ADuplicateGetsAnMraIfItsUserIsSlow) {
  Listen();
  Deliver(server_, Good());
  ASSERT_TRUE(peer().PrepareMra().ok());
  EXPECT_THAT(server_.port().sent, IsEmpty());
  Deliver(server_, Good());
  const auto mra = LastOf<Mra>(server_);
  EXPECT_EQ(mra.message_mraed, About::kReq);
  EXPECT_EQ(mra.service_timeout, 24);
  EXPECT_EQ(mra.remote_comm_id, 0x777u);
}

TEST_F(ReqChecksTest, AQueuePairThatIsConnectedIsStaleAndGoesFirst) {
  Listen();
  Deliver(server_, Good());
  Req other = Good();
  other.local_comm_id = 0x778;
  other.service_id = 1;  // where nobody listens
  ExpectRejected(other, RejectReason::kStaleConnection);
  EXPECT_THAT(server_.port().sent, SizeIs(1));  // nothing to disconnect yet
  EXPECT_THAT(server_.user.requests, SizeIs(1));
}

TEST_F(ReqChecksTest, AStaleConnectionIsDisconnected) {
  Connect();
  Req req = Good();
  req.local_ca_guid = client_.device.node_guid();
  req.local_qpn = 0x111;
  ExpectRejected(req, RejectReason::kStaleConnection);
  ASSERT_THAT(server_.port().sent, SizeIs(2));
  EXPECT_EQ(LastOf<Dreq>(server_).remote_qpn, 0x111u);
}

TEST_F(ReqChecksTest, TheSameNumbersOfAnotherCaAreNothingSpecial) {
  Listen();
  Deliver(server_, Good());
  Req other = Good();
  other.local_ca_guid = wire::Guid{0x4444};
  Deliver(server_, other);
  EXPECT_THAT(server_.user.requests, SizeIs(2));
}

TEST_F(ReqChecksTest, WhereNobodyListensTheServiceIdIsInvalid) {
  Req req = Good();
  req.primary.remote_gid.interface_id = 5;  // wrong, too
  ExpectRejected(req, RejectReason::kInvalidServiceId);
}

TEST_F(ReqChecksTest, APathThatCanNotBeUsedHasAnInvalidGid) {
  Listen();
  Req req = Good();
  req.primary.remote_gid.interface_id = 5;
  Rej rej = ExpectRejected(req, RejectReason::kInvalidGid);
  EXPECT_EQ(rej.info_length, 16);
  EXPECT_EQ(wire::Decode<wire::Gid>(rej.info),
            (wire::Gid{wire::kDefaultGidPrefix, 0x2002}));
  req = Good();
  req.p_key = 0x8888;
  ExpectRejected(req, RejectReason::kInvalidGid);
  EXPECT_THAT(server_.user.requests, IsEmpty());
}

TEST_F(ReqChecksTest, AListenerThatDropsTheIdRejects) {
  Listen();
  server_.user.on_request = [](std::unique_ptr<CmId>, const Arrived&) {};
  ExpectRejected(Good(), RejectReason::kConsumerDefined);
}

TEST_F(ReqChecksTest, AListenerWithoutRoomSaysNothing) {
  Listen();
  server_.user.on_request = [](auto id, const Arrived&) { id->Ignore(); };
  Deliver(server_, Good());
  EXPECT_THAT(server_.port().sent, IsEmpty());
  Deliver(server_, Good());  // no duplicate: it may come in now
  EXPECT_THAT(server_.user.requests, SizeIs(2));
}

TEST_F(ReqChecksTest, AListenerMayStopListeningInTheCall) {
  Listen();
  server_.user.on_request = [this](auto, const Arrived&) {
    listening_.reset();
  };
  ExpectRejected(Good(), RejectReason::kConsumerDefined);
  ExpectRejected(Good(), RejectReason::kInvalidServiceId);
}

TEST_F(ReqChecksTest, DatagramsAreNotConnected) {
  Listen();
  for (const auto service :
       {TransportService::kReliableDatagram, TransportService::kExtended}) {
    Req req = Good();
    req.local_comm_id += 1 + static_cast<uint32_t>(service);
    req.local_qpn += 1 + static_cast<uint32_t>(service);
    req.transport_service = service;
    Deliver(server_, req);
    EXPECT_EQ(server_.user.requests.back().request.qp_type,
              verbs::QpType::kSmi);
  }
}

TEST_F(ReqChecksTest, ARoutedReqIsAnsweredTheWayItCame) {
  Listen();
  Req req = Good();
  req.primary.subnet_local = false;
  req.primary.local_lid = wire::Lid::kPermissive;
  req.primary.remote_lid = wire::Lid::kPermissive;
  server_.port().Receive({.qp = 1,
                          .slid = wire::Lid{30},
                          .sl = 5,
                          .source_qpn = 1,
                          .grh = mad::GlobalRoute{.gid = req.primary.local_gid},
                          .mad = MakeMad(req, 1)});
  ASSERT_THAT(server_.user.requests, SizeIs(1));
  const mad::PathRecord& path = server_.user.requests[0].path;
  EXPECT_EQ(path.dlid, wire::Lid{30});
  EXPECT_EQ(path.slid, wire::Lid{2});
  EXPECT_EQ(path.sl, 5);
  EXPECT_EQ(path.hop_limit, 255);
  const auto attributes =
      peer().QpAttributesFor(verbs::QpState::kReadyToReceive, {});
  ASSERT_TRUE(attributes.ok());
  EXPECT_EQ(attributes->ah_attr.dlid, 30);
  EXPECT_EQ(attributes->ah_attr.is_global, 1);
  EXPECT_EQ(attributes->ah_attr.grh.hop_limit, 255);
}

TEST_F(ReqChecksTest, OneListensForAServiceIdUntilItStops) {
  Listen();
  EXPECT_EQ(server_.manager->Listen(kService, server_.user).status().code(),
            StatusCode::kAlreadyExists);
  listening_.reset();
  EXPECT_TRUE(server_.manager->Listen(kService, server_.user).ok());
}

// --- Which connection a message is for.

TEST_F(ConnectionManagerTest, ARepOfAnotherIsDropped) {
  SendRequest();
  const auto req = LastOf<Req>(client_);
  Rep rep{.local_comm_id = 5,
          .remote_comm_id = req.local_comm_id + 1,
          .local_qpn = 6};
  Deliver(client_, rep);
  EXPECT_THAT(client_.user.TakeKinds(), IsEmpty());
  rep.remote_comm_id = req.local_comm_id;
  Deliver(client_, rep);
  EXPECT_THAT(client_.user.TakeKinds(), ElementsAre(Kind::kRep));
}

TEST_F(ConnectionManagerTest, ARepOfAConnectedQueuePairIsStale) {
  Connect();
  auto second = client_.manager->Create(client_.user);
  ASSERT_TRUE(second->SendReq(Ask(0x112)).ok());
  const auto req = LastOf<Req>(client_);
  client_.port().sent.clear();
  Deliver(client_, Rep{.local_comm_id = 0x5,
                       .remote_comm_id = req.local_comm_id,
                       .local_qpn = 0x222,
                       .local_ca_guid = server_.device.node_guid()});
  ASSERT_THAT(client_.port().sent, SizeIs(2));
  const auto rej = BodyOf<Rej>(client_.port().sent[0].mad);
  EXPECT_EQ(rej.reason, 10);
  EXPECT_EQ(rej.message_rejected, About::kRep);
  EXPECT_EQ(rej.local_comm_id, req.local_comm_id);
  EXPECT_EQ(rej.remote_comm_id, 5u);
  EXPECT_EQ(MessageOf(client_.port().sent[1].mad), Message::kDreq);
  EXPECT_THAT(client_.user.TakeKinds(), IsEmpty());
}

TEST_F(ConnectionManagerTest, ARepWithAKnownCommIdIsDropped) {
  Connect();
  const auto rep = LastOf<Rep>(server_);
  auto second = client_.manager->Create(client_.user);
  ASSERT_TRUE(second->SendReq(Ask(0x112)).ok());
  Rep other = rep;
  other.remote_comm_id = LastOf<Req>(client_).local_comm_id;
  other.local_qpn = 0x987;
  client_.port().sent.clear();
  Deliver(client_, other);
  EXPECT_THAT(client_.port().sent, IsEmpty());
  EXPECT_THAT(client_.user.TakeKinds(), IsEmpty());
}

TEST_F(ConnectionManagerTest, ATimedOutPeerIsFoundByItsCa) {
  SendRequest();
  id_.reset();  // REJ 4: it has no id of the server's to name
  Settle();
  EXPECT_THAT(server_.user.TakeKinds(), ElementsAre(Kind::kRej));
}

TEST_F(ConnectionManagerTest, ADreqForNothingGetsADrepAllTheSame) {
  Deliver(server_, Dreq{.local_comm_id = 3, .remote_comm_id = 4}, 0x1234);
  const auto drep = LastOf<Drep>(server_);
  EXPECT_EQ(drep.local_comm_id, 4u);
  EXPECT_EQ(drep.remote_comm_id, 3u);
  EXPECT_EQ(server_.port().sent.back().to.dlid, wire::Lid{9});
  const CmCounters& counters = server_.manager->counters(1);
  EXPECT_EQ(counters.rx_duplicates[Index(Message::kDreq)], 1u);
}

TEST_F(ConnectionManagerTest, MessagesForNothingAreDropped) {
  Deliver(server_, Rtu{.local_comm_id = 3, .remote_comm_id = 4});
  Deliver(server_, Rep{.local_comm_id = 3, .remote_comm_id = 4});
  Deliver(server_, Drep{.local_comm_id = 3, .remote_comm_id = 4});
  Deliver(server_, Mra{.local_comm_id = 3, .remote_comm_id = 4});
  Deliver(server_, Rej{.local_comm_id = 3, .remote_comm_id = 4});
  Deliver(server_, Rej{.local_comm_id = 3, .reason = 4});
  Deliver(server_, SidrRep{.request_id = 4});
  EXPECT_THAT(server_.port().sent, IsEmpty());
}

TEST_F(ConnectionManagerTest, AlternatePathsAreCountedAndDropped) {
  Connect();
  server_.port().sent.clear();
  Deliver(server_, Lap{});
  Deliver(server_, Apr{});
  EXPECT_THAT(server_.port().sent, IsEmpty());
  const CmCounters& counters = server_.manager->counters(1);
  EXPECT_EQ(counters.rx_msgs[Index(Message::kLap)], 1u);
  EXPECT_EQ(counters.rx_msgs[Index(Message::kApr)], 1u);
}

TEST_F(ConnectionManagerTest, OtherAttributesAreDropped) {
  mad::MadBytes mad = MakeMad(Rtu{}, 1);
  for (const int attribute : {1, 0x0f, 0x1b, 0xffff}) {
    wire::Put<&mad::MadHeader::attr_id>(mad, mad::AttributeId(attribute));
    server_.port().Receive(
        {.qp = 1, .slid = wire::Lid{9}, .source_qpn = 1, .mad = mad});
  }
  EXPECT_THAT(server_.port().sent, IsEmpty());
}

// --- One loss of each message.

class LossTest : public ConnectionManagerTest {
 protected:
  void LoseOnce(Message which) {
    lose_ = [this, which](const Node&, Message message) {
      if (message != which) return false;
      lose_ = nullptr;
      return true;
    };
  }
};

TEST_F(LossTest, AReqIsRepeated) {
  LoseOnce(Message::kReq);
  Listen();
  id_ = client_.manager->Create(client_.user);
  ASSERT_TRUE(id_->SendReq(Ask()).ok());
  timers_.RunFor(absl::Milliseconds(6143));
  EXPECT_THAT(server_.user.requests, IsEmpty());
  timers_.RunFor(absl::Milliseconds(2));
  EXPECT_THAT(server_.user.requests, SizeIs(1));
}

TEST_F(LossTest, ARepIsRepeated) {
  SendRequest();
  LoseOnce(Message::kRep);
  ASSERT_TRUE(peer().SendRep(Answer()).ok());
  timers_.RunFor(absl::Milliseconds(4097));
  EXPECT_THAT(client_.user.TakeKinds(), ElementsAre(Kind::kRep));
}

TEST_F(LossTest, AnRtuIsRepeatedForTheRepeatedRep) {
  SendRequest();
  ASSERT_TRUE(peer().SendRep(Answer()).ok());
  Settle();
  LoseOnce(Message::kRtu);
  ASSERT_TRUE(id_->SendRtu({}).ok());
  timers_.RunFor(absl::Milliseconds(4097));
  EXPECT_THAT(server_.user.TakeKinds(), ElementsAre(Kind::kRtu));
  const CmCounters& counters = client_.manager->counters(1);
  EXPECT_EQ(counters.rx_msgs[Index(Message::kRep)], 2u);
  EXPECT_EQ(counters.rx_duplicates[Index(Message::kRep)], 1u);
  // As Linux counts: 1, and for the one by hand 2 of which one is a retry.
  EXPECT_EQ(counters.tx_msgs[Index(Message::kRtu)], 3u);
  EXPECT_EQ(counters.tx_retries[Index(Message::kRtu)], 1u);
}

TEST_F(LossTest, AnRtuThatNeverComesEndsThePassiveSide) {
  SendRequest();
  lose_ = [](const Node&, Message message) { return message == Message::kRtu; };
  ASSERT_TRUE(peer().SendRep(Answer()).ok());
  Settle();
  ASSERT_TRUE(id_->SendRtu({}).ok());
  timers_.RunFor(absl::Seconds(65));
  EXPECT_THAT(server_.user.TakeKinds(), IsEmpty());
  timers_.RunFor(absl::Seconds(1));
  EXPECT_THAT(server_.user.TakeKinds(), ElementsAre(Kind::kRepError));
}

TEST_F(LossTest, AMessageOnTheConnectionIsAsGoodAsAnRtu) {
  SendRequest();
  lose_ = [](const Node&, Message message) { return message == Message::kRtu; };
  ASSERT_TRUE(peer().SendRep(Answer()).ok());
  Settle();
  ASSERT_TRUE(id_->SendRtu({}).ok());
  ASSERT_TRUE(peer().NotifyEstablished().ok());
  EXPECT_THAT(server_.user.TakeKinds(), IsEmpty());  // not within the call
  Settle();
  EXPECT_THAT(server_.user.TakeKinds(), ElementsAre(Kind::kEstablished));
  EXPECT_EQ(peer().NotifyEstablished().code(), StatusCode::kAlreadyExists);
  EXPECT_TRUE(timers_.idle());
}

TEST_F(LossTest, AnIdThatIsDestroyedAfterNotifyIsToldNothing) {
  SendRequest();
  ASSERT_TRUE(peer().SendRep(Answer()).ok());
  ASSERT_TRUE(peer().NotifyEstablished().ok());
  server_.user.ids.clear();
  Settle();
  EXPECT_THAT(server_.user.TakeKinds(), IsEmpty());
}

TEST_F(LossTest, ADreqIsRepeatedAndAnsweredThoughTheConnectionIsGone) {
  Connect();
  LoseOnce(Message::kDrep);
  ASSERT_TRUE(id_->SendDreq({}).ok());
  Settle();
  ASSERT_TRUE(peer().SendDrep({}).ok());
  Settle();
  EXPECT_THAT(client_.user.TakeKinds(), IsEmpty());
  server_.user.ids.clear();  // TIMEWAIT would be over by then, too
  timers_.RunFor(absl::Milliseconds(6145));
  EXPECT_THAT(client_.user.TakeKinds(), ElementsAre(Kind::kDrep));
}

TEST_F(LossTest, ASlowListenerMakesTheClientWaitLonger) {
  SendRequest();
  ASSERT_TRUE(peer().PrepareMra().ok());
  TakeSent();
  timers_.RunFor(absl::Milliseconds(6150));
  EXPECT_THAT(TakeSent(), ElementsAre(Message::kReq, Message::kMra));
  timers_.RunFor(absl::Seconds(60));
  EXPECT_THAT(TakeSent(), IsEmpty());
  ASSERT_TRUE(peer().SendRep(Answer()).ok());
  Settle();
  EXPECT_THAT(client_.user.TakeKinds(), ElementsAre(Kind::kRep));
}

// --- Destruction, as the peer sees it.

class DestructionTest : public ConnectionManagerTest {};

TEST_F(DestructionTest, OfARequestRejectsIt) {
  SendRequest();
  server_.user.ids.clear();
  Settle();
  ASSERT_THAT(client_.user.events, SizeIs(1));
  EXPECT_EQ(client_.user.events[0].reason, 28);
}

TEST_F(DestructionTest, AfterTheRepRejectsIt) {
  SendRequest();
  ASSERT_TRUE(peer().SendRep(Answer()).ok());
  server_.user.ids.clear();
  Settle();
  EXPECT_THAT(client_.user.TakeKinds(), ElementsAre(Kind::kRep, Kind::kRej));
}

TEST_F(DestructionTest, OfTheClientAfterARepRejectsIt) {
  SendRequest();
  ASSERT_TRUE(peer().SendRep(Answer()).ok());
  Settle();
  id_.reset();
  Settle();
  ASSERT_THAT(server_.user.events, SizeIs(1));
  EXPECT_EQ(server_.user.events[0].kind, Kind::kRej);
  EXPECT_EQ(server_.user.events[0].reason, 28);
}

TEST_F(DestructionTest, OfAnEstablishedOneDisconnectsOnce) {
  Connect();
  id_.reset();
  Settle();
  EXPECT_THAT(server_.user.TakeKinds(), ElementsAre(Kind::kDreq));
  timers_.RunFor(absl::Minutes(5));
  EXPECT_THAT(TakeSent(), ElementsAre(Message::kDreq));
  server_.user.ids.clear();
  Settle();
  EXPECT_THAT(TakeSent(), ElementsAre(Message::kDrep));
  EXPECT_TRUE(timers_.idle());
}

TEST_F(DestructionTest, WithinAnEventIsAllowed) {
  SendRequest();
  client_.user.on_event = [this](CmId& id, const CmEvent&) {
    EXPECT_EQ(&id, id_.get());
    id_.reset();
  };
  ASSERT_TRUE(peer().SendRep(Answer()).ok());
  Settle();
  EXPECT_THAT(server_.user.TakeKinds(), ElementsAre(Kind::kRej));
}

TEST_F(DestructionTest, WithinTheEventOfATimerIsAllowed) {
  lose_ = [](const Node&, Message) { return true; };
  id_ = client_.manager->Create(client_.user);
  ASSERT_TRUE(id_->SendReq(Ask()).ok());
  client_.user.on_event = [this](CmId&, const CmEvent&) { id_.reset(); };
  timers_.RunFor(absl::Seconds(100));
  EXPECT_THAT(client_.user.TakeKinds(), ElementsAre(Kind::kReqError));
  EXPECT_TRUE(timers_.idle());
}

TEST_F(DestructionTest, InTimewaitSaysNothingMore) {
  Connect();
  ASSERT_TRUE(id_->SendDreq({}).ok());
  Settle();
  ASSERT_TRUE(peer().SendDrep({}).ok());
  Settle();
  TakeSent();
  id_.reset();
  server_.user.ids.clear();
  timers_.RunFor(absl::Seconds(10));
  EXPECT_THAT(TakeSent(), IsEmpty());
  EXPECT_TRUE(timers_.idle());
}

// --- The device.

TEST_F(ConnectionManagerTest, NothingIsSentOnceTheDeviceIsGone) {
  SendRequest();
  client_.device.Remove();
  server_.device.Remove();
  auto fresh = client_.manager->Create(client_.user);
  EXPECT_EQ(fresh->SendReq(Ask()).code(), StatusCode::kUnavailable);
  EXPECT_EQ(fresh->SendSidrReq({.path = Path()}).code(),
            StatusCode::kUnavailable);
  EXPECT_EQ(peer().SendRep(Answer()).code(), StatusCode::kUnavailable);
  EXPECT_EQ(id_->SendRtu({}).code(), StatusCode::kUnavailable);
  EXPECT_EQ(id_->SendDreq({}).code(), StatusCode::kUnavailable);
  EXPECT_EQ(peer().SendDrep({}).code(), StatusCode::kUnavailable);
  EXPECT_EQ(peer().SendSidrRep({}).code(), StatusCode::kUnavailable);
  EXPECT_EQ(peer().SendRej(RejectReason::kConsumerDefined, {}, {}).code(),
            StatusCode::kUnavailable);
  TakeSent();
  server_.user.ids.clear();
  EXPECT_THAT(TakeSent(), IsEmpty());
}

TEST_F(ConnectionManagerTest, APortWhoseClassIsTakenConnectsNothing) {
  CmDevice device(3);
  auto host = std::make_shared<mad::Host>(timers_, device);
  ConnectionManager first(timers_, host, Random(1), 0);
  ConnectionManager second(timers_, host, Random(1), 0);
  CmRequest request = Ask();
  request.path.sgid = device.port(1).gids[0];
  auto id = second.Create(client_.user);
  EXPECT_EQ(id->SendReq(request).code(), StatusCode::kUnavailable);
  id = first.Create(client_.user);
  EXPECT_TRUE(id->SendReq(request).ok());
}

}  // namespace
}  // namespace ibemu::cm
