// Who gets a MAD that arrives.
#include "mad/dispatcher.h"

#include "mad/wire/smp.h"
#include "tests/mad/fixture.h"

namespace ibemu::mad {
namespace {

class DispatcherTest : public HostTest {
 protected:
  Registration Server(MgmtClass mgmt_class, Method method,
                      uint8_t version = 1) {
    return {.qp = IsSmClass(mgmt_class) ? 0 : 1,
            .mgmt_class = static_cast<uint8_t>(mgmt_class),
            .mgmt_class_version = version,
            .oui = 0x1405,
            .methods = Methods({method})};
  }
  void Receive(const MadHeader& header, int qp = 1) {
    port_.Receive(From(kPeer, MakeMad(header, 0x5a), qp));
  }
};

// [req_routing]
TEST_F(DispatcherTest, ARequestGoesToTheAgentOfItsClassAndMethod) {
  RecordingClient other;
  auto get = Register(Server(MgmtClass::kDevice, Method::kGet));
  auto set = Register(Server(MgmtClass::kDevice, Method::kSet), other);
  Receive({.mgmt_class = MgmtClass::kDevice, .method = Method::kGet});
  EXPECT_THAT(client_.inbox, SizeIs(1));
  EXPECT_THAT(other.inbox, IsEmpty());
  Receive({.mgmt_class = MgmtClass::kDevice, .method = Method::kSet});
  EXPECT_THAT(other.inbox, SizeIs(1));
}

// [req_routing]
TEST_F(DispatcherTest, ARequestStaysAtThePortWhereItArrived) {
  RecordingClient other;
  auto first = Register(Server(MgmtClass::kDevice, Method::kGet));
  auto second = Register(Server(MgmtClass::kDevice, Method::kGet), other, 2);
  const MadBytes request =
      MakeMad({.mgmt_class = MgmtClass::kDevice, .method = Method::kGet});
  device_.port(2).Receive(From(kPeer, request));
  EXPECT_THAT(client_.inbox, IsEmpty());
  EXPECT_THAT(other.inbox, SizeIs(1));
}

// [oui_order] [req_routing]
TEST_F(DispatcherTest, AVendorRequestGoesToTheAgentOfItsOui) {
  auto agent = Register(Server(MgmtClass::kOpenIbPing, Method::kSend));
  MadBytes ping =
      MakeMad({.mgmt_class = MgmtClass::kOpenIbPing, .method = Method::kSend});
  port_.Receive(From(kPeer, ping));
  EXPECT_THAT(client_.inbox, IsEmpty());

  // The OUI 0x001405, most significant byte first, at byte 37.
  ping[37] = std::byte{0x00};
  ping[38] = std::byte{0x14};
  ping[39] = std::byte{0x05};
  port_.Receive(From(kPeer, ping));
  EXPECT_THAT(client_.inbox, SizeIs(1));
}

// [rx_header] [ib_grh_rx] [ib_sl_rx]
TEST_F(DispatcherTest, TellsTheClientWhereTheMadCameFrom) {
  auto agent = Register(Server(MgmtClass::kDevice, Method::kGet));
  port_.gids = {{1, 1}, {1, 2}};
  const MadBytes mad =
      MakeMad({.mgmt_class = MgmtClass::kDevice, .method = Method::kGet});
  port_.Receive({.qp = 1,
                 .slid = kPeer,
                 .sl = 3,
                 .path_bits = 1,
                 .pkey_index = 4,
                 .source_qpn = 0x99,
                 .grh = GlobalRoute{.gid = {5, 6},
                                    .flow_label = 7,
                                    .gid_index = 1,
                                    .hop_limit = 8,
                                    .traffic_class = 9},
                 .mad = mad});
  ASSERT_THAT(client_.inbox, SizeIs(1));
  const IncomingMessage& got = client_.inbox[0];
  EXPECT_EQ(got.qp, 1);
  EXPECT_EQ(got.slid, kPeer);
  EXPECT_EQ(got.sl, 3);
  EXPECT_EQ(got.path_bits, 1);
  EXPECT_EQ(got.pkey_index, 4);
  EXPECT_EQ(got.source_qpn, 0x99u);
  EXPECT_EQ(got.mad, ToVector(mad));
  const GlobalRoute expected{.gid = {5, 6},
                             .flow_label = 7,
                             .gid_index = 1,
                             .hop_limit = 255,  // not the received one
                             .traffic_class = 9};
  EXPECT_EQ(got.grh, expected);
}

// [ah_errors] [dgid0]
TEST_F(DispatcherTest, DropsAGrhForAGidThatThePortDoesNotHave) {
  auto agent = Register(Server(MgmtClass::kDevice, Method::kGet));
  Arrival arrival =
      From(kPeer,
           MakeMad({.mgmt_class = MgmtClass::kDevice, .method = Method::kGet}));
  arrival.grh = GlobalRoute{.gid = {5, 6}, .gid_index = 1};
  port_.Receive(arrival);
  EXPECT_THAT(client_.inbox, IsEmpty());
  EXPECT_THAT(port_.sent, IsEmpty());
}

// [gen_unmatched]
TEST_F(DispatcherTest, AnswersAnUnmatchedGetOrSetAndEchoesThePayload) {
  for (const Method method : {Method::kGet, Method::kSet}) {
    MadBytes request = MakeMad(
        {.mgmt_class = MgmtClass::kDevice, .method = method, .tid = 0x77},
        0x5a);
    port_.sent.clear();
    port_.Receive(From(kPeer, request));
    ASSERT_THAT(port_.sent, SizeIs(1));
    const Outgoing& reply = port_.sent[0];
    EXPECT_EQ(reply.qp, 1);
    EXPECT_EQ(reply.to.dlid, kPeer);
    EXPECT_EQ(reply.to.qpn, 1u);
    EXPECT_EQ(reply.to.qkey, kQp1QKey);

    wire::Put<&MadHeader::method>(request, Method::kGetResp);
    wire::Put<&MadHeader::status>(request, MadStatus::kUnsupportedAttribute);
    EXPECT_EQ(reply.mad, request);
  }
}

// [gen_unmatched]
TEST_F(DispatcherTest, AnswersByTheGrhThatTheRequestHad) {
  Arrival request =
      From(kPeer,
           MakeMad({.mgmt_class = MgmtClass::kDevice, .method = Method::kGet}));
  request.sl = 2;
  request.path_bits = 3;
  request.grh = GlobalRoute{.gid = {5, 6}, .flow_label = 7};
  port_.Receive(request);
  ASSERT_THAT(port_.sent, SizeIs(1));
  EXPECT_EQ(port_.sent[0].to.sl, 2);
  EXPECT_EQ(port_.sent[0].to.path_bits, 3);
  ASSERT_TRUE(port_.sent[0].to.grh.has_value());
  EXPECT_EQ(port_.sent[0].to.grh->gid, (wire::Gid{5, 6}));
  EXPECT_EQ(port_.sent[0].to.grh->flow_label, 7u);
  EXPECT_EQ(port_.sent[0].to.grh->hop_limit, 255);
}

// [gen_unmatched]
TEST_F(DispatcherTest, DropsOtherUnmatchedMethods) {
  for (int method = 0; method < 256; ++method) {
    if (Method(method) == Method::kGet || Method(method) == Method::kSet) {
      continue;
    }
    Receive({.mgmt_class = MgmtClass::kDevice, .method = Method(method)});
  }
  EXPECT_THAT(port_.sent, IsEmpty());
}

// [ver_mismatch]
TEST_F(DispatcherTest, AnotherClassVersionIsUnmatched) {
  auto agent = Register(Server(MgmtClass::kDevice, Method::kGet));
  for (const uint8_t version : {0, 2, 0x83, 0xff}) {
    port_.sent.clear();
    Receive({.mgmt_class = MgmtClass::kDevice,
             .class_version = version,
             .method = Method::kGet});
    EXPECT_THAT(client_.inbox, IsEmpty());
    EXPECT_THAT(port_.sent, ElementsAre(HasMethod(Method::kGetResp)));
  }
}

// [ver_mismatch]
TEST_F(DispatcherTest, DropsAnotherBaseVersion) {
  auto agent = Register(Server(MgmtClass::kDevice, Method::kGet));
  for (const uint8_t version : {0, 2, 0x80}) {
    Receive({.base_version = version,
             .mgmt_class = MgmtClass::kDevice,
             .method = Method::kGet});
  }
  EXPECT_THAT(client_.inbox, IsEmpty());
  EXPECT_THAT(port_.sent, IsEmpty());
}

// [smp_on_qp1] [q0_gsi_on_qp0]
TEST_F(DispatcherTest, DropsSubnetClassesOnQp1AndOthersOnQp0) {
  auto smp = Register(Server(MgmtClass::kSubnetLidRouted, Method::kGet));
  auto gmp = Register(Server(MgmtClass::kDevice, Method::kGet));
  Receive({.mgmt_class = MgmtClass::kSubnetLidRouted, .method = Method::kGet},
          1);
  Receive(
      {.mgmt_class = MgmtClass::kSubnetDirectedRoute, .method = Method::kGet},
      1);
  Receive({.mgmt_class = MgmtClass::kDevice, .method = Method::kGet}, 0);
  EXPECT_THAT(client_.inbox, IsEmpty());
  EXPECT_THAT(port_.sent, IsEmpty());

  Receive({.mgmt_class = MgmtClass::kSubnetLidRouted, .method = Method::kGet},
          0);
  EXPECT_THAT(client_.inbox, SizeIs(1));
}

// [cm_class]
TEST_F(DispatcherTest, TheCmClassOnlySends) {
  auto agent = Register(Server(MgmtClass::kCommunication, Method::kGet));
  auto sends = Register(Server(MgmtClass::kCommunication, Method::kSend));
  Receive({.mgmt_class = MgmtClass::kCommunication,
           .method = Method::kGet,
           .attr_id = AttributeId(0x10)});
  EXPECT_THAT(client_.inbox, IsEmpty());
  EXPECT_THAT(port_.sent, IsEmpty());

  Receive({.mgmt_class = MgmtClass::kCommunication,
           .method = Method::kSend,
           .attr_id = AttributeId(0x10)});
  Receive({.mgmt_class = MgmtClass::kCommunication,
           .method = Method::kGet,
           .attr_id = AttributeId::kClassPortInfo});
  EXPECT_THAT(client_.inbox, SizeIs(2));
}

// [resp_to_responder_mask]
TEST_F(DispatcherTest, AnswersIgnoreTheMethodMask) {
  Registration wanted = Server(MgmtClass::kDevice, Method::kGet);
  wanted.methods.set();
  auto server = Register(wanted);
  for (const Method method : {Method::kGetResp, Method::kTrapRepress}) {
    Receive({.mgmt_class = MgmtClass::kDevice, .method = method});
  }
  EXPECT_THAT(client_.inbox, IsEmpty());
}

// [bm_response_bit]
TEST_F(DispatcherTest, ABaseboardMadWithTheResponseBitIsAnAnswer) {
  auto server = Register(Server(MgmtClass::kBaseboard, Method::kSend));
  Receive({.mgmt_class = MgmtClass::kBaseboard,
           .method = Method::kSend,
           .attr_mod = 1});
  EXPECT_THAT(client_.inbox, IsEmpty());
  Receive({.mgmt_class = MgmtClass::kBaseboard,
           .method = Method::kSend,
           .attr_mod = 2});
  EXPECT_THAT(client_.inbox, SizeIs(1));
}

// [gen_unmatched]
TEST_F(DispatcherTest, AnUnmatchedDirectedRequestIsAnsweredAlongItsPath) {
  Smp smp{.mgmt_class = MgmtClass::kSubnetDirectedRoute,
          .method = Method::kGet,
          .hop_pointer = 2,
          .hop_count = 1,
          .dr_slid = wire::Lid::kPermissive,
          .dr_dlid = wire::Lid::kPermissive};
  smp.return_path[1] = 1;
  MadBytes mad;
  wire::Encode(smp, mad);
  port_.Receive(From(kPeer, mad, 0));
  ASSERT_THAT(port_.sent, SizeIs(1));
  const Smp reply = wire::Decode<Smp>(port_.sent[0].mad);
  EXPECT_EQ(reply.method, Method::kGetResp);
  EXPECT_TRUE(reply.direction);
  EXPECT_EQ(reply.status, MadStatus::kUnsupportedAttribute);
  EXPECT_EQ(reply.hop_pointer, 1);
  EXPECT_EQ(port_.sent[0].qp, 0);
  EXPECT_EQ(port_.sent[0].to.qkey, 0u);
}

// [resp_routing] [resp_by_tid]
TEST_F(DispatcherTest, ASecondAgentOfTheHostMayNotTakeTheFirstOnesAnswer) {
  RecordingClient other;
  auto first = RegisterSender();
  auto second = Register({}, other);
  ASSERT_TRUE(
      first->Send(MessageTo(kPeer, MakeMad(kPerfGet), absl::Seconds(1))).ok());
  MadBytes answer = AnswerToLast();
  wire::Put<&MadHeader::tid>(answer, uint64_t{second->hi_tid()} << 32 | 0x1234);
  port_.Receive(From(kPeer, answer));
  EXPECT_THAT(client_.inbox, IsEmpty());
  EXPECT_THAT(other.inbox, IsEmpty());
}

}  // namespace
}  // namespace ibemu::mad
