// The attributes of queue pairs that a connection gives.
#include "cm/connected_qp.h"

#include "tests/cm/connection_states.h"

namespace ibemu::cm {
namespace {

using verbs::QpState;

verbs::QpAttributes Get(const Connection& it, QpState state,
                        std::optional<uint8_t> ack_timeout = std::nullopt) {
  const auto attributes = it.QpAttributesFor(state, ack_timeout);
  EXPECT_TRUE(attributes.ok()) << attributes.status();
  return attributes.value_or(verbs::QpAttributes{});
}

TEST(ConnectedQpTest, EachStateIsGivenWhenItsValuesAreKnown) {
  for (const State state : kConnectionStates) {
    SCOPED_TRACE(NameOf(state));
    const Connection it = In(state);
    const bool asked =
        state == State::kReqSent || state == State::kMraReqReceived;
    const bool known =
        state >= State::kReqReceived && state <= State::kEstablished;
    EXPECT_EQ(it.QpAttributesFor(QpState::kInit, {}).ok(), asked || known);
    EXPECT_EQ(it.QpAttributesFor(QpState::kReadyToReceive, {}).ok(), known);
    EXPECT_EQ(it.QpAttributesFor(QpState::kReadyToSend, {}).ok(), known);
    for (const QpState other : {QpState::kReset, QpState::kSendQueueDrain,
                                QpState::kSendQueueError, QpState::kError}) {
      EXPECT_FALSE(it.QpAttributesFor(other, {}).ok());
    }
  }
}

TEST(ConnectedQpTest, InitHasPortPKeyAndAccess) {
  const verbs::QpAttributes init = Get(In(State::kReqSent), QpState::kInit);
  EXPECT_EQ(init.qp_attr_mask, 0x39u);
  EXPECT_EQ(init.qp_state, 1u);
  EXPECT_EQ(init.port_num, 1);
  EXPECT_EQ(init.pkey_index, 0);
  EXPECT_EQ(init.qp_access_flags, 0xeu);  // write, read, atomic

  Connection none({.comm_id = kOwnId});
  CmRequest request = RequestToPeer();
  request.responder_resources = 0;
  ASSERT_TRUE(none.SendReq(kStart, request, WayToPeer()).ok());
  EXPECT_EQ(Get(none, QpState::kInit).qp_access_flags, 2u);
}

TEST(ConnectedQpTest, TheActiveSideTakesItsValuesFromTheRep) {
  const Connection it = In(State::kRepReceived);
  const verbs::QpAttributes receive = Get(it, QpState::kReadyToReceive);
  EXPECT_EQ(receive.qp_attr_mask, 0x129181u);
  EXPECT_EQ(receive.qp_state, 2u);
  EXPECT_EQ(receive.path_mtu, 4u);
  EXPECT_EQ(receive.dest_qp_num, kPeerQpn);
  EXPECT_EQ(receive.rq_psn, 0xabcu);         // its own StartingPSN
  EXPECT_EQ(receive.max_dest_rd_atomic, 2);  // the peer's InitiatorDepth
  EXPECT_EQ(receive.min_rnr_timer, 0);
  EXPECT_EQ(receive.ah_attr.dlid, 2);
  EXPECT_EQ(receive.ah_attr.sl, 3);
  EXPECT_EQ(receive.ah_attr.static_rate, 7);
  EXPECT_EQ(receive.ah_attr.port_num, 1);
  EXPECT_EQ(receive.ah_attr.is_global, 0);

  const verbs::QpAttributes send = Get(it, QpState::kReadyToSend);
  EXPECT_EQ(send.qp_attr_mask, 0x12e01u);
  EXPECT_EQ(send.qp_state, 3u);
  EXPECT_EQ(send.sq_psn, 0x456u);
  EXPECT_EQ(send.timeout, 19);
  EXPECT_EQ(send.retry_cnt, 6);
  EXPECT_EQ(send.rnr_retry, 3);
  EXPECT_EQ(send.max_rd_atomic, 1);  // the peer's ResponderResources
}

TEST(ConnectedQpTest, ThePassiveSideTakesItsValuesFromTheReq) {
  Connection it = In(State::kReqReceived);
  const verbs::QpAttributes receive = Get(it, QpState::kReadyToReceive);
  EXPECT_EQ(receive.dest_qp_num, kPeerQpn);
  EXPECT_EQ(receive.max_dest_rd_atomic, 9);
  EXPECT_EQ(receive.ah_attr.dlid, 7);  // as the REQ says, whoever sent it
  const verbs::QpAttributes send = Get(it, QpState::kReadyToSend);
  EXPECT_EQ(send.sq_psn, 0x123u);
  EXPECT_EQ(send.max_rd_atomic, 8);
  EXPECT_EQ(send.retry_cnt, 5);
  EXPECT_EQ(send.rnr_retry, 4);
  EXPECT_EQ(send.timeout, 19);

  ASSERT_TRUE(it.SendRep(kStart, ReplyToPeer()).ok());
  EXPECT_EQ(Get(it, QpState::kReadyToReceive).rq_psn, 0xdefu);
  EXPECT_EQ(Get(it, QpState::kReadyToReceive).max_dest_rd_atomic, 2);
  EXPECT_EQ(Get(it, QpState::kReadyToSend).max_rd_atomic, 3);
}

TEST(ConnectedQpTest, AUcQueuePairHasNoAcknowledgements) {
  Connection it({.comm_id = kOwnId});
  Req req = ReqOfPeer();
  req.transport_service = TransportService::kUnreliableConnection;
  it.OnReq(HeaderOfPeer(), req, WayToPeer());
  EXPECT_EQ(Get(it, QpState::kInit).qp_attr_mask, 0x39u);
  EXPECT_EQ(Get(it, QpState::kReadyToReceive).qp_attr_mask, 0x101181u);
  EXPECT_EQ(Get(it, QpState::kReadyToSend).qp_attr_mask, 0x10001u);
}

TEST(ConnectedQpTest, AnAckTimeoutMayBeChosen) {
  EXPECT_EQ(Get(In(State::kEstablished), QpState::kReadyToSend, 7).timeout, 7);
}

TEST(ConnectedQpTest, AGlobalRouteIsInTheAddress) {
  Route route = WayToPeer();
  route.to.grh = mad::GlobalRoute{.gid = {0xfe80000000000000, 0x1122},
                                  .flow_label = 0x12345,
                                  .gid_index = 2,
                                  .hop_limit = 255,
                                  .traffic_class = 4};
  const verbs::AddressAttributes address = AddressOf(route);
  EXPECT_EQ(address.is_global, 1);
  EXPECT_EQ(address.grh.dgid[0], 0xfe);
  EXPECT_EQ(address.grh.dgid[14], 0x11);
  EXPECT_EQ(address.grh.dgid[15], 0x22);
  EXPECT_EQ(address.grh.flow_label, 0x12345u);
  EXPECT_EQ(address.grh.sgid_index, 2);
  EXPECT_EQ(address.grh.hop_limit, 255);
  EXPECT_EQ(address.grh.traffic_class, 4);
}

}  // namespace
}  // namespace ibemu::cm
